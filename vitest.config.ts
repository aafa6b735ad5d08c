import { defineConfig } from 'vitest/config'

const databaseSuites = {
  include: ['test/*.test.ts'],
  globalSetup: 'test/template.ts',
  testTimeout: 60_000,
  hookTimeout: 60_000,
}

// Everything runs on the embedded engine; where a server is named, everything that has a database runs on that too.
const engines = process.env['TEST_DATABASE_URL'] ? (['embedded', 'server'] as const) : (['embedded'] as const)

export default defineConfig({
  test: {
    maxWorkers: 2,
    // Node runs the sources here as it does in production: no transformation, one copy of each package.
    experimental: { viteModuleRunner: false },
    projects: [
      { test: { name: 'unit', include: ['test/unit/*.test.ts'] } },
      ...engines.map((engine) => ({ test: { ...databaseSuites, name: engine, provide: { engine } } })),
    ],
  },
})
