import { expect, test } from 'vitest'
import { faultOf } from '../openapi.ts'

test('a reply that is not what openapi.json says is found out', () => {
  expect(faultOf('GET', '/config', 200, '{}')).toContain("must have required property 'id'")
  expect(faultOf('GET', '/quotes/Quote:1', 404, '{"status":404,"code":5,"message":"x"}')).toContain('/code must be string')
  expect(faultOf('POST', '/customers', 200, '{}')).toContain('is not described')
  expect(faultOf('GET', '/quotes/Quote:1', 404, '{"status":404,"code":"QUOTE_NOT_FOUND","message":"x"}')).toBeUndefined()
})
