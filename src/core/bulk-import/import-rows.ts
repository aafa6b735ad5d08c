/**
 * The rows of a job become customers, a portion at a time: the customers, the rows that are done with and the job's progress are one plan, so
 * whatever is interrupted goes on where it was, and no row is taken twice. Run by its task.
 */
import { z } from 'zod'
import { DomainError } from '../../base/refusal.ts'
import type { BulkJobRow, InsertedRows } from '../../database/tables.ts'
import { accountDetails, newExternalAccount } from '../accounts/external.ts'
import type { EventDraft } from '../commit.ts'
import { arrival, customerInput } from '../customers/create-customer.ts'
import { takenAddresses } from '../customers/customer.ts'
import { readInput } from '../input.ts'
import { type Moment, operation } from '../operation.ts'
import type { World } from '../platform/world.ts'
import { bulkJobEnded, bulkJobOf, bulkJobProgressed, type RowError } from './job.ts'

const rowsAtOnce = 20
const mostErrors = 1000

interface StoredRow {
  id: string
  number: number
  fields: Record<string, string>
}

export const importRows = operation({
  name: 'importRows',
  permission: 'MANAGE',
  input: z.object({ jobId: z.uuid() }),
  output: z.object({ over: z.boolean() }),
  load: async ({ database, worlds }, { worldId }, { jobId }) => {
    const [job, world] = await Promise.all([bulkJobOf(database, worldId, jobId), worlds.get(worldId)])
    if (!job) throw new Error(`task for a job that does not exist: ${jobId}`)
    // Rows that are done with are gone; looking for them at the place where they were would take longer with each portion.
    const rows = await database.query<StoredRow>(
      `select id, number, fields from bulk_row where job_id = $1 and number > $2 order by number limit ${rowsAtOnce}`,
      [jobId, job.processed],
    )
    const wanted = rows.map(({ fields }) => umaAddressIn(fields)?.toLowerCase() ?? '')
    return { job, world: world!, rows, taken: await takenAddresses(database, worldId, wanted.filter(Boolean)) }
  },
  decide(_input, { job, world, rows, taken }, moment) {
    if (job.completedAt) return { reply: { over: true } }
    if (rows.length === 0) {
      const ended: BulkJobRow = { ...job, status: 'COMPLETED', completedAt: moment.now, updatedAt: moment.now }
      return { reply: { over: true }, update: { bulk_job: [ended] }, events: [bulkJobEnded(ended)] }
    }
    const made = new Made()
    const errors: RowError[] = []
    for (const row of rows) {
      try {
        made.add(row, world, taken, moment)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        errors.push(rowError(row, error))
      }
    }
    const before = job.errors as unknown as RowError[]
    const after: BulkJobRow = {
      ...job,
      status: 'PROCESSING',
      processed: job.processed + rows.length,
      successful: job.successful + rows.length - errors.length,
      failed: job.failed + errors.length,
      errors: [...before, ...errors].slice(0, mostErrors) as unknown as BulkJobRow['errors'],
      updatedAt: moment.now,
    }
    return {
      reply: { over: false },
      update: { bulk_job: [after] },
      insert: made.rows,
      remove: { bulk_row: rows.map(({ id }) => id) },
      events: [...made.events, ...(percentOf(after) > percentOf(job) ? [bulkJobProgressed(after)] : [])],
    }
  },
})

/** Who follows a job is told of every hundredth of it. */
function percentOf({ processed, total }: BulkJobRow): number {
  return Math.floor((100 * processed) / Math.max(total, 1))
}

/** What the rows of a portion become. */
class Made {
  readonly rows: { [Table in 'customer' | 'ledger_account' | 'internal_account' | 'external_account']: InsertedRows[Table][] } = {
    customer: [],
    ledger_account: [],
    internal_account: [],
    external_account: [],
  }
  readonly events: EventDraft[] = []

  /** Refuses what the row cannot be; then nothing of it is added. */
  add({ fields }: StoredRow, world: World, taken: Set<string>, moment: Moment): void {
    const arrived = arrival(readInput(rowInput, toInput(fields)), world, moment)
    const [customer] = arrived.insert.customer
    if (taken.has(customer!.umaAddress)) {
      throw new DomainError('UMA_ADDRESS_EXISTS', 'Another customer has this UMA address', { field: 'umaAddress' })
    }
    const details = accountIn(fields)
    const account = details && newExternalAccount(readInput(accountDetails, details), world, customer, moment)
    taken.add(customer!.umaAddress)
    this.rows.customer.push(...arrived.insert.customer)
    this.rows.ledger_account.push(...arrived.insert.ledger_account)
    this.rows.internal_account.push(...arrived.insert.internal_account)
    if (account) this.rows.external_account.push(account)
    this.events.push(...arrived.events)
  }
}

/** Files must have more than single calls: the specification's required columns. */
const rowInput = customerInput.superRefine((row, context) => {
  const required =
    row.customerType === 'INDIVIDUAL' ? (['fullName', 'birthDate', 'address'] as const) : (['businessInfo', 'address'] as const)
  for (const field of required)
    if (row[field] === undefined) context.addIssue({ code: 'custom', path: [field], message: 'expected in every row' })
})

function toInput(fields: Record<string, string>): object {
  const {
    platformCustomerId,
    customerType,
    fullName,
    birthDate,
    email,
    addressLine1,
    addressLine2,
    city,
    state,
    postalCode,
    country,
  } = fields
  const { businessLegalName: legalName, businessRegistrationNumber: registrationNumber, businessTaxId: taxId } = fields
  const damaged = Object.entries(fields).find(([, value]) => value.includes('\ufffd'))
  if (damaged) throw new DomainError('INVALID_INPUT', `${damaged[0]}: expected UTF-8`, { field: damaged[0] })
  const umaAddress = umaAddressIn(fields)
  return {
    platformCustomerId,
    customerType: customerType?.toUpperCase(),
    ...(umaAddress ? { umaAddress } : {}),
    ...(fullName ? { fullName } : {}),
    ...(birthDate ? { birthDate } : {}),
    ...(email ? { email } : {}),
    ...(addressLine1 || postalCode || country
      ? { address: given({ line1: addressLine1, line2: addressLine2, city, state, postalCode, country }) }
      : {}),
    ...(legalName ? { businessInfo: given({ legalName, registrationNumber, taxId }) } : {}),
  }
}

/** Some files leave the $ out. */
function umaAddressIn({ umaAddress }: Record<string, string>): string | undefined {
  return umaAddress && !umaAddress.startsWith('$') ? `$${umaAddress}` : umaAddress
}

const currencyOfType: Readonly<Record<string, string>> = { US_ACCOUNT: 'USD', CLABE: 'MXN', PIX: 'BRL', UPI: 'INR', IBAN: 'EUR' }

/** The bank account of a row that has one, held by the customer. */
function accountIn(fields: Record<string, string>): object | undefined {
  const { accountType, platformAccountId, fullName, birthDate, businessLegalName } = fields
  if (!accountType) return undefined
  const beneficiary = businessLegalName
    ? { beneficiaryType: 'BUSINESS', businessInfo: { legalName: businessLegalName } }
    : { beneficiaryType: 'INDIVIDUAL', ...given({ fullName, birthDate }) }
  const { accountNumber, routingNumber, accountCategory, bankName, clabeNumber, pixKey, pixKeyType, vpa, iban, swiftBic } = fields
  const identifiers = {
    accountNumber,
    routingNumber,
    accountCategory,
    bankName,
    clabeNumber,
    pixKey,
    pixKeyType,
    vpa,
    iban,
    swiftBic,
  }
  return {
    currency: currencyOfType[accountType],
    ...(platformAccountId ? { platformAccountId } : {}),
    accountInfo: { accountType, ...given(identifiers), beneficiary },
  }
}

function given(fields: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function rowError({ number, fields: { platformCustomerId } }: StoredRow, { code, message, details }: DomainError): RowError {
  return {
    correlationId: platformCustomerId ?? `row_${number}`,
    ...(platformCustomerId ? { platformCustomerId } : {}),
    error: {
      code: code === 'INVALID_INPUT' ? 'validation_error' : code,
      message,
      details: { row: number, ...(typeof details?.['field'] === 'string' ? { field: details['field'] } : {}) },
    },
  }
}
