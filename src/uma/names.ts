/** What the specification calls pieces of information about a person, and what UMA calls them. */
const umaNames: Readonly<Record<string, string>> = {
  FULL_NAME: 'name',
  EMAIL: 'email',
  BIRTH_DATE: 'birthDate',
  NATIONALITY: 'nationality',
  COUNTRY_OF_RESIDENCE: 'countryOfResidence',
  PHONE_NUMBER: 'phoneNumber',
  ADDRESS: 'address',
  TAX_ID: 'taxId',
  REGISTRATION_NUMBER: 'registrationNumber',
  BUSINESS_NAME: 'businessName',
  USER_TYPE: 'userType',
}

const ourNames = new Map(Object.entries(umaNames).map(([ours, theirs]) => [theirs, ours]))

/** Part of every message, not information about a person. */
const ofTheProtocol: ReadonlySet<string> = new Set(['identifier', 'compliance'])

type Options = Readonly<Record<string, { mandatory: boolean }>>

export function toOptions(fields: readonly { name: string; mandatory: boolean }[]): Record<string, { mandatory: boolean }> {
  return Object.fromEntries(fields.flatMap(({ name, mandatory }) => (umaNames[name] ? [[umaNames[name], { mandatory }]] : [])))
}

/** A field of theirs that we have no name for keeps theirs. */
export function fromOptions(options: Options = {}): { name: string; mandatory: boolean }[] {
  return Object.entries(options)
    .filter(([name]) => !ofTheProtocol.has(name))
    .map(([name, { mandatory }]) => ({ name: ourNames.get(name) ?? name, mandatory }))
}

/** Mandatory ones among them that we cannot even name. */
export function unnamed(options: Options = {}): string[] {
  return Object.entries(options)
    .filter(([name, { mandatory }]) => mandatory && !ofTheProtocol.has(name) && !ourNames.has(name))
    .map(([name]) => name)
}

export function toData(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).flatMap(([name, value]) => (umaNames[name] ? [[umaNames[name], value]] : [])))
}

const longestValue = 500

/** What we have a name for, as text; anything else is left out. */
export function fromData(data: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => {
      const ours = ourNames.get(name)
      return ours !== undefined && typeof value === 'string' && value !== ''
        ? [[ours, value.replaceAll('\u0000', '').slice(0, longestValue)] as const]
        : []
    }),
  )
}
