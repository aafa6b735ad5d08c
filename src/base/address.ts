/** Which addresses the gateway may send webhooks to: public ones, and nothing that only looks public. */
import ipaddr from 'ipaddr.js'

/** `text` is an IPv4 or IPv6 address in any form a resolver or socket prints. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  // ::a.b.c.d, the deprecated IPv4-compatible form, is not seen as special by the library.
  if (
    address.kind() === 'ipv6' &&
    address
      .toByteArray()
      .slice(0, 12)
      .every((byte) => byte === 0)
  )
    return false
  return address.range() === 'unicast'
}

export function isLoopbackAddress(text: string): boolean {
  return ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback'
}

/** What is wrong with an endpoint's URL as it is written; names are judged again when they are resolved. */
export function endpointFault(text: string, allowLocal: boolean): string | undefined {
  const url = URL.parse(text)
  if (!url) return 'expected an absolute URL'
  if (url.username || url.password) return 'credentials do not belong in the URL'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const local = /^(.+\.)?localhost\.?$/.test(host) || isLoopbackAddress(host)
  if (local && allowLocal && (url.protocol === 'http:' || url.protocol === 'https:')) return undefined
  if (url.protocol !== 'https:') return 'expected an https URL'
  if (local || (ipaddr.isValid(host) && !isPublicAddress(host))) return 'expected a public address'
  return undefined
}
