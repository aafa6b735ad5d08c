/** Whether replies are what openapi.json says: every reply of every test that goes over REST is looked at. */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, 'openapi.json')

const paths = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
  // Of several that fit, the one with the fewest parameters is meant.
  parameters: path.split('{').length,
}))
paths.sort((left, right) => left.parameters - right.parameters)

const validators = new Map<string, ValidateFunction>()

function validatorAt(pointer: string): ValidateFunction {
  let validate = validators.get(pointer)
  if (!validate) {
    validate = ajv.compile({ $ref: `openapi.json${pointer}` })
    validators.set(pointer, validate)
  }
  return validate
}

const typesOfNested: Readonly<Record<string, string>> = {
  INTERNAL_ACCOUNT: 'ACCOUNT_STATUS',
  EXTERNAL_ACCOUNT: 'ACCOUNT_STATUS',
  CUSTOMER: 'KYC_STATUS',
  INVITATION: 'INVITATION_CLAIMED',
}

/** What is wrong with a webhook, in either form; undefined when nothing is. */
export function faultOfWebhook(text: string): string | undefined {
  const body = JSON.parse(text)
  const object = String(body.type).split('.')[0]!
  const type = 'data' in body ? (typesOfNested[object] ?? object) : object
  const form = 'data' in body ? 1 : 0
  if (!document.webhooks[type]) return `${type} is not described`
  const validate = validatorAt(`#/webhooks/${type}/post/requestBody/content/application~1json/schema/oneOf/${form}`)
  return validate(body) ? undefined : `${type}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`
}

/** What is wrong with a reply; undefined when nothing is. `path` is under the version segment. */
export function faultOf(method: string, path: string, status: number, text: string): string | undefined {
  const found = paths.find(({ pattern }) => pattern.test(path.split('?')[0]!))
  const operation = found && document.paths[found.path][method.toLowerCase()]
  // Unknown paths and methods have no description to fit.
  if (!operation) return undefined
  const where = `${method} ${found.path} ${status}`
  const response = operation.responses[status]
  if (!response) return `${where} is not described`
  const pointer = response.$ref
    ? `${response.$ref}/content/application~1json/schema`
    : `#/paths/${found.path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`
  if (text === '') return response.content ? `${where} has no body` : undefined
  const validate = validatorAt(pointer)
  return validate(JSON.parse(text)) ? undefined : `${where}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`
}
