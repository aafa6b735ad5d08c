/** Rails that are not ours: a module whose default export makes them. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Clock } from '../base/clock.ts'
import type { RailReports, Rails, RateSource } from './port.ts'

/** What a module of rails is given, and what it gives. */
export type RailsModule = (given: { clock: Clock; reports: RailReports }) => Promise<ProvidedRails> | ProvidedRails

export interface ProvidedRails {
  rails: Rails
  /** Absent: the gateway's own table. */
  rates?: RateSource
  /** Told when the gateway stops. */
  close?: () => Promise<void>
}

/** Throws when the module cannot be loaded or is no module of rails. */
export async function loadRails(path: string, given: Parameters<RailsModule>[0]): Promise<ProvidedRails> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown }
  if (typeof module.default !== 'function') throw new Error(`RAILS: ${path} has no default export that makes rails`)
  const provided = await (module.default as RailsModule)(given)
  for (const method of ['sends', 'pulls', 'instructions', 'receiver', 'send', 'pull', 'giveBack'] as const) {
    if (typeof provided?.rails?.[method] !== 'function') throw new Error(`RAILS: the rails of ${path} have no ${method}()`)
  }
  return provided
}
