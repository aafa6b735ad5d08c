/** Log lines: JSON, with a request id where there is a request, and never a secret, an account number or a birth date. */
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

/** To standard output, unless told otherwise. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, serializers: { err: describeError } }
  return destination ? pino(options, destination) : pino(options)
}

/** Of an error what leads to its cause. The database's details repeat whole rows, so they are left out. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  return {
    type: name,
    message,
    stack,
    ...('code' in error ? { code: error.code } : {}),
    ...('constraint' in error ? { constraint: error.constraint } : {}),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  }
}
