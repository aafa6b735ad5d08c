/** What clients of HTTP expect beside a body: which methods a path takes, in which form it answers. */
import type { Route } from './route.ts'

/** The methods of a path, as the Allow header lists them; empty where there is no such path. */
export function methodsOf(routes: readonly Route[], prefix: string): (path: string) => string[] {
  const known = routes.map((route) => ({ route, pattern: patternOf(`${prefix}${route.path}`) }))
  return (path) => {
    const methods = new Set<string>()
    for (const { route, pattern } of known) {
      if (!pattern.test(path)) continue
      methods.add(route.method)
      if (route.method === 'GET' && readsOnly(route)) methods.add('HEAD')
    }
    return methods.size === 0 ? [] : [...methods, 'OPTIONS'].sort()
  }
}

/** Some GETs of the specification make something: a lookup, a link. */
export function readsOnly({ asks }: Route): boolean {
  return asks.kind === 'query'
}

function patternOf(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
  return new RegExp(`^${segments.join('/')}$`)
}

/** Whether a client takes JSON, by its Accept header; without one it takes anything. */
export function takesJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const refused = parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter))
    return !refused && ['*/*', 'application/*', 'application/json'].includes(type)
  })
}

/** What is deleted is named by its path, and how by its query. */
export function hasBody(method: Route['method']): boolean {
  return method !== 'GET' && method !== 'DELETE'
}
