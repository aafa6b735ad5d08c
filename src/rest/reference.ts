/** The reference that people browse: Swagger UI over `openapi.json`, everything from this package, nothing from elsewhere. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'

const require = createRequire(import.meta.url)

const page = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Payments gateway: reference</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/reference/swagger-ui.css">
</head>
<body>
  <main id="reference"></main>
  <noscript>The reference needs JavaScript; <a href="/openapi.json">openapi.json</a> does not.</noscript>
  <script src="/reference/swagger-ui-bundle.js"></script>
  <script src="/reference/open.js"></script>
</body>
</html>
`

const script = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null, docExpansion: 'none', persistAuthorization: false,
})
`

/** Nothing is loaded from outside, whatever the library might try. */
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const types: Readonly<Record<string, string>> = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }

export function addReference(app: FastifyInstance): void {
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'))
  const files: Readonly<Record<string, () => Promise<string>>> = {
    'open.js': async () => script,
    'swagger-ui.css': () => readFile(join(folder, 'swagger-ui.css'), 'utf8'),
    'swagger-ui-bundle.js': () => readFile(join(folder, 'swagger-ui-bundle.js'), 'utf8'),
  }
  app.get('/reference', (_request, reply) =>
    reply
      .headers({ 'content-security-policy': policy, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8')
      .send(page),
  )
  for (const [name, read] of Object.entries(files)) {
    app.get(`/reference/${name}`, async (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' })
        .type(types[name.split('.').at(-1)!]!)
        .send(await read()),
    )
  }
}
