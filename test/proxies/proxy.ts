import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from '../helpers/redis-server.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { eventually } from '../helpers/waiting.ts'

/**
 * Starts nginx in front of a server, with what its documents say of WebSockets and every other setting as nginx has it. It
 * is ended with the test.
 *
 * @param prefix where the server is to be, such as `/iot`; empty for the root of the host
 * @returns its URL, with the prefix
 * @throws Error how to install it where there is none
 */
export async function startNginx({ url }: ServerProcess, prefix = ''): Promise<string> {
  const directory = await temporaryDirectory()
  const port = await freePort()
  const file = join(directory, 'nginx.conf')
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    each => `${each}_temp_path ${each};`,
  )
  await writeFile(
    file,
    `
daemon off;
user root;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${places.join('\n  ')}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${port};
    location ${prefix}/ {
      proxy_pass ${url}/;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }
  }
}
`,
  )
  await start('nginx', ['-p', directory, '-c', file], 'apt install nginx-light')
  return await answering(`http://127.0.0.1:${port}${prefix}`)
}

/**
 * Starts HAProxy in front of a server, with the times that its documents and most of its examples have. It is ended with the
 * test.
 *
 * @returns its URL @throws Error how to install it where there is none
 */
export async function startHaproxy({ url }: ServerProcess): Promise<string> {
  const directory = await temporaryDirectory()
  const port = await freePort()
  const file = join(directory, 'haproxy.cfg')
  await writeFile(
    file,
    `
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend http
    bind 127.0.0.1:${port}
    default_backend http
backend http
    server node ${new URL(url).host}
`,
  )
  await start('haproxy', ['-db', '-f', file], 'apt install haproxy')
  return await answering(`http://127.0.0.1:${port}`)
}

/** @throws Error how to install it where there is none */
async function start(program: string, args: readonly string[], install: string): Promise<void> {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'spawn').catch(() => {
    throw new Error(`${program} is not installed: ${install}`)
  })
  onTestFinished(async () => {
    const exited = once(child, 'exit')
    if (child.kill('SIGTERM')) await exited
  })
}

/** Resolves with the URL when it is served. There is no event for it. */
async function answering(url: string): Promise<string> {
  const isServed = () =>
    fetch(`${url}/healthz`)
      .then(({ ok }) => ok)
      .catch(() => false)
  if (!(await eventually(isServed))) throw new Error(`nothing answers at ${url}`)
  return url
}
