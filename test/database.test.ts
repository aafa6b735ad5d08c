import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { commitFunction } from '../src/core/commit.sql.ts'
import { openEmbeddedDatabase } from '../src/database/embedded.ts'
import { FolderInUse, lockFolder } from '../src/database/folder-lock.ts'
import { migrate } from '../src/database/migrate.ts'
import { constraintOf, sqlState } from '../src/database/port.ts'
import { migrationDrift } from './migration-drift.ts'
import { newPayer } from './people.ts'
import { freshDatabase, useWorld } from './world.ts'

const world = useWorld()

describe('the database', () => {
  test('has migrations that say what the schema says', async () => {
    expect(await migrationDrift()).toBe('')
  }, 60_000)

  test('is migrated once, however often and from however many processes', async () => {
    const { database, drop } = await freshDatabase()
    await Promise.all([migrate(database, [commitFunction]), migrate(database, [commitFunction])])
    const rows = await database.query<{ migration_name: string; checksum: string }>(
      'select migration_name, checksum from _prisma_migrations order by started_at',
    )
    expect(rows[0]).toMatchObject({ migration_name: '0001_first_payment', checksum: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(new Set(rows.map(({ migration_name }) => migration_name)).size).toBe(rows.length)
    await database.close()
    await drop()
  })

  test('reads what was written: 64-bit integers, instants to the millisecond, JSON, arrays', async () => {
    const at = new Date('2026-07-01T12:34:56.789Z')
    const [row] = await world.database.query(
      `select $1::bigint as big, $2::timestamptz as at, $3::text::jsonb as json, $4::boolean as yes, $5::uuid[] as ids, null as nothing`,
      [2n ** 63n - 1n, at, '{"amount":9007199254740993}', true, ['01890000-0000-7000-8000-000000000000']],
    )
    expect(row).toMatchObject({ big: 2n ** 63n - 1n, at, json: { amount: 9007199254740993n }, yes: true, nothing: null })
  })

  test('shows Prisma the same rows as plain SQL, in UTC', async () => {
    const [plain] = await world.database.query<{ created_at: Date; text: string; id: string }>(
      'select id, created_at, created_at::text as text from platform order by id limit 1',
    )
    const prisma = await world.database.prisma.platform.findFirst({ orderBy: { id: 'asc' }, include: { worlds: true } })
    expect(prisma).toMatchObject({ id: plain!.id, createdAt: plain!.created_at })
    expect(plain!.text).toMatch(/\+00$/)
    expect(prisma!.worlds).toHaveLength(2)
  })

  test('rolls a failed transaction back, and says which constraint it broke', async () => {
    const { database } = world
    const add = `insert into follower (name, position) values ('twice', 1)`
    const failure = await database
      .transaction(async (tx) => {
        await tx.query(add)
        await tx.query(add)
      })
      .catch((error: unknown) => error)
    expect([sqlState(failure), constraintOf(failure)]).toEqual(['23505', 'follower_pkey'])
    expect(await database.query(`select 1 from follower where name = 'twice'`)).toEqual([])
  })

  test.runIf(inject('engine') === 'server')('fails a transaction whose connection breaks, and nothing else', async () => {
    const { database } = world
    const broken = database.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await database.query('select pg_terminate_backend($1)', [row!.pid])
      // It has broken while it is out and idle; then it is asked something.
      await new Promise((resolve) => setImmediate(resolve))
      await tx.query('select 1')
    })
    await expect(broken).rejects.toThrow()
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  test('keeps the ledger append-only and balances at or above zero', async () => {
    const { database } = world
    await newPayer(world)
    await expect(database.query(`update ledger_entry set kind = 'REFUND'`)).rejects.toThrow('never changed')
    await expect(database.query('delete from ledger_entry')).rejects.toThrow('never changed')
    await expect(database.query(`update ledger_account set balance = -1 where balance = 0`)).rejects.toThrow('balance_check')
  })
})

describe('a data folder', () => {
  const folder = () => mkdtempSync(join(tmpdir(), 'gateway-folder-'))

  test('is held by one process, and taken over from a dead one', () => {
    const held = folder()
    const release = lockFolder(held)
    expect(readFileSync(join(held, 'lock'), 'utf8')).toBe(String(process.pid))
    expect(() => lockFolder(held)).toThrow(FolderInUse)
    expect(() => lockFolder(held)).toThrow(`in use by process ${process.pid}`)
    release()
    lockFolder(held)()
    writeFileSync(join(held, 'lock'), '999999999')
    lockFolder(held)()
    writeFileSync(join(held, 'lock'), String(process.ppid))
    expect(() => lockFolder(held)).toThrow(FolderInUse)
    rmSync(held, { recursive: true })
  })

  test('keeps what was written, and starts again after a first start that was cut off', async () => {
    const kept = folder()
    const first = await openEmbeddedDatabase({ folder: kept })
    await first.script('create table kept (n int); insert into kept values (1)')
    await expect(openEmbeddedDatabase({ folder: kept })).rejects.toThrow(FolderInUse)
    await first.close()
    const second = await openEmbeddedDatabase({ folder: kept })
    expect(await second.query('select n from kept')).toEqual([{ n: 1 }])
    await second.close()
    // As a first start leaves it that was killed before its end.
    writeFileSync(join(kept, 'initialising'), '')
    rmSync(join(kept, 'postgres', 'global'), { recursive: true })
    const third = await openEmbeddedDatabase({ folder: kept })
    expect(await third.query('select 1 as one')).toEqual([{ one: 1 }])
    await third.close()
    rmSync(kept, { recursive: true })
  })

  test('with somebody else’s files in it is left as it is', async () => {
    const foreign = folder()
    mkdirSync(join(foreign, 'postgres'))
    writeFileSync(join(foreign, 'postgres', 'precious'), 'keep me')
    await openEmbeddedDatabase({ folder: foreign }).then(
      (database) => database.close(),
      () => {},
    )
    expect(readFileSync(join(foreign, 'postgres', 'precious'), 'utf8')).toBe('keep me')
    rmSync(foreign, { recursive: true })
  })
})
