/** The schema rules of graphql-eslint, Relay's included. */
import { configs, parser, rules } from '@graphql-eslint/eslint-plugin'

export default [
  {
    files: ['**/*.graphql'],
    languageOptions: { parser, parserOptions: { graphQLConfig: { schema: 'schema.graphql' } } },
    plugins: { '@graphql-eslint': { rules } },
    rules: {
      ...configs['flat/schema-recommended'].rules,
      ...configs['flat/schema-relay'].rules,
      // Amounts, addresses, edges and payloads have no identity of their own.
      '@graphql-eslint/strict-id-in-types': 'off',
      // Names are the specification's.
      '@graphql-eslint/no-typename-prefix': 'off',
      '@graphql-eslint/naming-convention': [
        'error',
        {
          ...configs['flat/schema-recommended'].rules['@graphql-eslint/naming-convention'][1],
          EnumValueDefinition: { style: 'UPPER_CASE', ignorePattern: '^invitation_' },
        },
      ],
      // Some lists are read forwards only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
      // Lists of values are lists; and not all that is listed can be asked for by its id.
      '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false }],
    },
  },
]
