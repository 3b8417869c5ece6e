/**
 * `npm run setup` installs the programs that the tests need (programs.json), where it is root on Debian or what is made of
 * it. Elsewhere it says what to type. Exit status: 0 all are there; 1 some are missing.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** @typedef {{ package: string, check: string, service?: string, for: string }} Program */

const self = process.argv[1]
/** Asked by each package that has a service. 101: the service is not to be started. */
const policy = '/usr/sbin/policy-rc.d'
/** Daemons are in directories that the PATH of a user may lack. */
const path = `${process.env.PATH}:/usr/sbin:/sbin`

/** @type {Program[]} */
const programs = JSON.parse(readFileSync(new URL('programs.json', import.meta.url), 'utf8'))
const isDebian = succeeds('command -v apt-get && command -v dpkg')
let missing = programs.filter(isMissing)

if (missing.length > 0 && isDebian && process.getuid?.() === 0) {
  install(missing)
  missing = programs.filter(isMissing)
}
if (missing.length === 0) console.log('Every program that the tests need is installed.')
else {
  for (const program of missing) console.error(`missing: ${program.package} (for ${program.for})`)
  console.error(advice())
  process.exitCode = 1
}

/** @param {Program} program */
function isMissing({ package: name, check }) {
  if (!isDebian) return !succeeds(check)
  const { stdout } = spawnSync('dpkg', ['--status', name], { encoding: 'utf8' })
  return !stdout.includes('\nStatus: install ok installed\n')
}

/** @param {readonly Program[]} wanted */
function install(wanted) {
  const names = wanted.map(program => program.package)
  console.log(`Installing ${names.join(' ')}`)
  // The tests start servers of their own. The packages start theirs at the same ports, and again at each boot.
  const isOurs = !existsSync(policy)
  // A Ctrl-C ends apt-get; this program has to remove its policy yet.
  process.on('SIGINT', () => {})
  try {
    if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    apt('update', '-qq')
    apt('install', '--yes', '-qq', '--no-install-recommends', ...names)
  } finally {
    if (isOurs) rmSync(policy, { force: true })
  }
  for (const { service } of wanted) if (service) disable(service)
}

/** @param {string[]} options */
function apt(...options) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['-o', 'Dpkg::Use-Pty=0', ...options], { stdio: ['ignore', 'ignore', 'inherit'], env })
}

/** @param {string} service */
function disable(service) {
  succeeds(`systemctl disable ${service} || update-rc.d ${service} disable`)
}

function advice() {
  if (isDebian && process.getuid?.() === 0) return 'apt-get could not install them: see above.'
  if (isDebian) return `To install them, type:\n  sudo ${process.execPath} ${self}`
  return 'The names are those of Debian. The tests run on Linux: install these programs by the means of your system.'
}

/** @param {string} line of a shell */
function succeeds(line) {
  const env = { ...process.env, PATH: path }
  return spawnSync('sh', ['-c', line], { stdio: 'ignore', env }).status === 0
}
