/** What every hosted page has: its frame, its rules for the browser, and text that cannot become markup. */
import { createHash } from 'node:crypto'

/** Markup that is ready; anything else is escaped when it is put into `html`. */
class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type { Markup }

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

type Piece = Markup | string | number | undefined | false | readonly Piece[]

export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(strings.map((text, index) => text + (index < pieces.length ? textOf(pieces[index]) : '')).join(''))
}

function textOf(piece: Piece): string {
  if (piece === undefined || piece === false) return ''
  if (piece instanceof Markup) return piece.text
  if (Array.isArray(piece)) return piece.map(textOf).join('')
  return String(piece).replace(/[&<>"']/g, (character) => escapes[character]!)
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; overflow-wrap: anywhere; display: grid; justify-content: center; }
main { box-sizing: border-box; width: min(32rem, 100vw); padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
label, legend { display: block; font-weight: 600; margin-top: 1rem; }
fieldset { border: 0; margin: 1.5rem 0 0; padding: 0; }
fieldset legend { font-size: 1.125rem; padding: 0; }
input, select, button { box-sizing: border-box; width: 100%; font: inherit; padding: .625rem .75rem; border: 1px solid GrayText; border-radius: .375rem; min-height: 2.75rem; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
[aria-invalid=true] { border: 2px solid #c62828; }
.choice { font-weight: 400; }
.choice input { width: auto; min-height: auto; margin-right: .5rem; }
button { margin-top: 2rem; font-weight: 600; background: #1a4fd6; color: white; border: 0; cursor: pointer; }
.hint { margin: 0; color: GrayText; }
.error { margin: .25rem 0 0; font-weight: 600; color: #c62828; }
.errors { border: 2px solid #c62828; border-radius: .375rem; padding: 0 1rem; }
@media (prefers-color-scheme: dark) { .error, .errors a { color: #ff8a80; } }
`

const styleHash = createHash('sha256').update(style).digest('base64')

export function pageOf(title: string, content: Markup): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Markup(style)}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.text
}

/** Nothing is loaded, nothing is run, nobody frames it; forms go here, and on to where the page leads. The address is a secret: it is passed on to nobody. */
export function headersOf(leadsTo?: string): Record<string, string> {
  const onwards = leadsTo === undefined ? '' : ` ${new URL(leadsTo).origin}`
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'${onwards}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}
