import { execFile } from 'node:child_process'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../test/helpers/redis-server.ts'
import { eventually } from '../../test/helpers/waiting.ts'
import { idOf, ProgramMissing, startProgram } from './peer.ts'

const run = promisify(execFile)
/** Where Debian keeps each version's programs, which are not in PATH. */
const versions = '/usr/lib/postgresql'
const aptPackage = 'postgresql'
/** Connections are ended, not waited for. */
const endingConnections = 'SIGINT'

export interface Postgres {
  /** Of the server; what serves a connection is a child of it. */
  readonly processId: number
  /** For libpq, over its Unix socket. */
  readonly connectionString: string
  /** Where its other programs are, such as psql. */
  readonly programs: string
  /** Resolves when a new process of the server listens. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A cluster of its own with the settings it comes with: `fsync` and `synchronous_commit` on. */
export async function startPostgres(parent: string): Promise<Postgres> {
  const programs = await findPrograms()
  const directory = await mkdtemp(join(parent, 'postgres-'))
  const user = await ownerFor(directory)
  const data = join(directory, 'data')
  await run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres'], { ...user })
  const port = await freePort()
  const args = ['-D', data, '-k', directory, '-p', String(port), '-c', 'listen_addresses=127.0.0.1']
  const isReady = () => succeeds(join(programs, 'pg_isready'), ['-h', directory, '-p', String(port)])
  const start = async () => {
    const program = await startProgram({ command: join(programs, 'postgres'), args, user })
    if (!(await eventually(isReady))) throw new Error('PostgreSQL is not ready')
    return program
  }
  let program = await start()
  return {
    get processId() {
      return idOf(program)
    },
    connectionString: `host=${directory} port=${port} user=postgres dbname=postgres`,
    programs,
    restart: async () => {
      await program.end(endingConnections)
      program = await start()
    },
    stop: async () => {
      await program.end(endingConnections)
      await rm(directory, { recursive: true })
    },
  }
}

function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

/** @throws ProgramMissing */
async function findPrograms(): Promise<string> {
  const found = await readdir(versions).catch(() => [])
  const newest = found.sort((a, b) => Number(a) - Number(b)).at(-1)
  if (newest === undefined) throw new ProgramMissing(`PostgreSQL is not installed: apt install ${aptPackage}`)
  return join(versions, newest, 'bin')
}

/** PostgreSQL does not run as root: there it runs, and owns its files, as the user that its package has made. */
async function ownerFor(directory: string): Promise<{ uid: number; gid: number }> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (own.uid !== 0) return own
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout)
  const [uid, gid] = [await id('-u'), await id('-g')]
  await chown(directory, uid, gid)
  return { uid, gid }
}
