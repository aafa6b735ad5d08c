/**
 * What a reader may see: a whole world, or what belongs to one customer of it. What it may not see is as missing as what never was.
 */
export interface Sight {
  worldId: string
  /** Bare uuid; undefined: everybody's, and the platform's own. */
  customerId: string | undefined
}

/** For the service itself, and for what follows from something that could be seen. */
export function wholeWorld(worldId: string): Sight {
  return { worldId, customerId: undefined }
}

/** `owner`: the customer something belongs to; null: the platform. */
export function sees({ customerId }: Pick<Sight, 'customerId'>, owner: string | null | undefined): boolean {
  return customerId === undefined || customerId === owner
}
