/**
 * The tables as plain SQL sees them: their columns in both spellings, and their rows as TypeScript types. Prisma's schema is where they
 * are defined.
 */
import type { Vault } from '../base/vault.ts'
import { Prisma } from './generated/client.ts'
import type {
  ApiTokenModel,
  ApprovalModel,
  BulkJobModel,
  CustomerModel,
  DepositModel,
  ExternalAccountModel,
  InternalAccountModel,
  InvitationModel,
  KycLinkModel,
  LedgerAccountModel,
  LinkTokenModel,
  LookupModel,
  PayRequestModel,
  PersistedOperationModel,
  PlatformModel,
  QuoteModel,
  SigningKeyModel,
  TaskModel,
  TransactionModel,
  UmaKeyModel,
  ViewerTokenModel,
  WebhookDeliveryModel,
  WorldModel,
} from './generated/models.ts'
import { isPersonal } from './personal.ts'

export type {
  ApiTokenModel as ApiTokenRow,
  ApprovalModel as ApprovalRow,
  BulkJobModel as BulkJobRow,
  CustomerModel as CustomerRow,
  DepositModel as DepositRow,
  ExternalAccountModel as ExternalAccountRow,
  InvitationModel as InvitationRow,
  KycLinkModel as KycLinkRow,
  LinkTokenModel as LinkTokenRow,
  LookupModel as LookupRow,
  PayRequestModel as PayRequestRow,
  PersistedOperationModel as PersistedOperationRow,
  QuoteModel as QuoteRow,
  SigningKeyModel as SigningKeyRow,
  TaskModel as TaskRow,
  TransactionModel as TransactionRow,
  UmaKeyModel as UmaKeyRow,
  ViewerTokenModel as ViewerTokenRow,
  WebhookDeliveryModel as WebhookDeliveryRow,
  WorldModel as WorldRow,
}

/** An internal account together with its balance, and the platform's id of the customer whose it is. */
export type InternalAccountRow = InternalAccountModel &
  Pick<LedgerAccountModel, 'balance' | 'updatedAt'> & { platformCustomerId: string | null }

/** The tables that a commit inserts rows into, with the rows. */
export interface InsertedRows {
  platform: PlatformModel
  world: WorldModel
  api_token: ApiTokenModel
  viewer_token: ViewerTokenModel
  persisted_operation: PersistedOperationModel
  signing_key: SigningKeyModel
  customer: CustomerModel
  ledger_account: LedgerAccountModel
  internal_account: InternalAccountModel
  external_account: ExternalAccountModel
  quote: QuoteModel
  transaction: TransactionModel
  deposit: DepositModel
  approval: ApprovalModel
  invitation: InvitationModel
  kyc_link: KycLinkModel
  link_token: LinkTokenModel
  bulk_job: BulkJobModel
  lookup: LookupModel
  uma_key: UmaKeyModel
  pay_request: PayRequestModel
  task: TaskModel
}

/** The tables whose rows change, each row guarded by its version. */
export interface VersionedRows {
  world: WorldModel
  api_token: ApiTokenModel
  customer: CustomerModel
  external_account: ExternalAccountModel
  quote: QuoteModel
  transaction: TransactionModel
  deposit: DepositModel
  approval: ApprovalModel
  invitation: InvitationModel
  kyc_link: KycLinkModel
  link_token: LinkTokenModel
  bulk_job: BulkJobModel
  pay_request: PayRequestModel
}

const fields = {
  platform: Prisma.PlatformScalarFieldEnum,
  world: Prisma.WorldScalarFieldEnum,
  api_token: Prisma.ApiTokenScalarFieldEnum,
  viewer_token: Prisma.ViewerTokenScalarFieldEnum,
  persisted_operation: Prisma.PersistedOperationScalarFieldEnum,
  signing_key: Prisma.SigningKeyScalarFieldEnum,
  customer: Prisma.CustomerScalarFieldEnum,
  ledger_account: Prisma.LedgerAccountScalarFieldEnum,
  internal_account: Prisma.InternalAccountScalarFieldEnum,
  external_account: Prisma.ExternalAccountScalarFieldEnum,
  quote: Prisma.QuoteScalarFieldEnum,
  transaction: Prisma.TransactionScalarFieldEnum,
  deposit: Prisma.DepositScalarFieldEnum,
  approval: Prisma.ApprovalScalarFieldEnum,
  invitation: Prisma.InvitationScalarFieldEnum,
  kyc_link: Prisma.KycLinkScalarFieldEnum,
  link_token: Prisma.LinkTokenScalarFieldEnum,
  bulk_job: Prisma.BulkJobScalarFieldEnum,
  webhook_delivery: Prisma.WebhookDeliveryScalarFieldEnum,
  lookup: Prisma.LookupScalarFieldEnum,
  uma_key: Prisma.UmaKeyScalarFieldEnum,
  pay_request: Prisma.PayRequestScalarFieldEnum,
  task: Prisma.TaskScalarFieldEnum,
  event: Prisma.EventScalarFieldEnum,
} satisfies Record<keyof InsertedRows | 'event' | 'webhook_delivery', Record<string, string>>

export type TableName = keyof typeof fields

const snakeNames = new Map<string, string>()

/** `createdAt` → `created_at`. */
function snakeCase(name: string): string {
  let snake = snakeNames.get(name)
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    snakeNames.set(name, snake)
  }
  return snake
}

/** The names of a table's columns in the database. */
export function columnNames(table: TableName): string[] {
  return Object.values(fields[table]).map(snakeCase)
}

/** A table's columns: the code's names, and each in the database. */
export function columnsAs(table: TableName, alias: string): [name: string, column: string][] {
  return Object.values(fields[table]).map((field) => [field, `${alias}.${snakeCase(field)}`])
}

/** A select list that returns rows under the code's names: `t.created_at as "createdAt", …`. */
export function selectList(table: TableName, alias: string = table): string {
  const key = `${table} ${alias}`
  let list = selectLists.get(key)
  if (list === undefined) {
    list = Object.values(fields[table])
      .map((field) => `${alias}.${snakeCase(field)} as "${field}"`)
      .join(', ')
    selectLists.set(key, list)
  }
  return list
}

const selectLists = new Map<string, string>()

/**
 * The condition of rows by id ($2) in a world ($1), said so that no index on the world can answer it: a plan made while a world is small
 * would read all of it when it is large.
 */
export function byIdsInWorld(alias: string): string {
  return `${alias}.id = any($2::uuid[]) and (${alias}.world_id = $1) is true`
}

/** A row under the database's names, as the commit function takes it: what is personal in it is sealed. */
export function storedRow(vault: Vault, row: object): Record<string, unknown> {
  const stored: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) {
    stored[snakeCase(name)] = isPersonal(name) && value !== null ? vault.seal(value) : value
  }
  return stored
}
