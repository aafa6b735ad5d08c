/** One process per data folder: the embedded engine takes no lock of its own, and two of them on one folder destroy it. */
import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/** Returns how to let go. Throws FolderInUse while the process that holds the folder lives; a dead one's lock is taken over. */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'lock')
  for (let tries = 0; tries < 5; tries += 1) {
    if (create(file)) {
      held.add(file)
      return () => release(file)
    }
    const holder = read(file)
    if (holder !== undefined && isAlive(file, holder)) {
      throw new FolderInUse(
        `${folder} is in use by process ${holder}. Stop that process first, or choose another folder with DATA_DIR ` +
          `(if ${holder} is not a gateway, remove ${file}).`,
      )
    }
    if (holder !== undefined) removeStale(file, holder)
  }
  throw new FolderInUse(`${folder} is being opened by several processes at once; try again`)
}

function create(file: string): boolean {
  try {
    const descriptor = openSync(file, 'wx')
    writeSync(descriptor, String(process.pid))
    closeSync(descriptor)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function read(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** A process of our own id with a lock left behind is an earlier life in the same container, unless this one holds it. */
const held = new Set<string>()

function isAlive(file: string, pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  if (pid === process.pid) return held.has(file)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Moves the dead process's lock away; if somebody put a fresh one in its place meanwhile, puts that back. */
function removeStale(file: string, holder: number): void {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
    if (read(aside) !== holder) linkSync(aside, file)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error
  }
  rmSync(aside, { force: true })
}

function release(file: string): void {
  held.delete(file)
  rmSync(file, { force: true })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
