/** No source file over 400 lines, and no download address in the lock file. Run by `npm run lint`. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const maximumLines = 400
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.mjs'],
  {
    encoding: 'utf8',
  },
)
const tooLong = files
  .split('\n')
  .filter(file => file !== '')
  .map(file => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  .filter(({ lines }) => lines > maximumLines)
for (const { file, lines } of tooLong) console.error(`${file}: ${lines} lines, at most ${maximumLines}`)

const hasAddresses = readFileSync('package-lock.json', 'utf8').includes('"resolved":')
if (hasAddresses) console.error('package-lock.json carries resolved addresses')

process.exitCode = tooLong.length > 0 || hasAddresses ? 1 : 0
