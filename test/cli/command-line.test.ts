import { describe, expect, it } from 'vitest'
import { helpOf } from '../../src/cli/help.ts'
import { createProgram } from '../../src/cli/program.ts'
import { runCommand } from './command.ts'
import { commandLinePage } from './command-line-page.ts'

const commands = createProgram().commands.flatMap(command =>
  command.commands.length > 0 ? [...command.commands] : [command],
)
const paths = commands.map(({ parent, name }, index) => ({
  path: [parent?.parent ? parent.name() : '', commands[index]?.name() ?? name()].filter(part => part !== ''),
  command: commands[index],
}))

describe('the command line', () => {
  // After a change of a command, `npx vitest run test/cli/command-line.test.ts -u` writes the file anew.
  it('commandLinePage() is docs/reference/command-line.md', async () => {
    await expect(commandLinePage()).toMatchFileSnapshot('../../docs/reference/command-line.md')
  })

  it.each(paths)('$path has two examples of commands that there are', ({ command }) => {
    const examples = command ? helpOf(command)?.examples : undefined
    expect(examples?.length).toBeGreaterThanOrEqual(2)
    for (const [line] of examples ?? []) {
      const words = line.split(' ')
      expect(paths.some(({ path }) => path.every((part, place) => words[place] === part))).toBe(true)
    }
  })

  it('--help of a command shows its options, examples and exit statuses', async () => {
    const { code, stdout } = await runCommand(['things', 'create', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--credential-file')
    expect(stdout).toContain('thingwire things create boat')
    expect(stdout).toMatch(/^Exit status: 0 done; 1 /m)
  })

  it('--help of serve shows the options of the server', async () => {
    const { code, stdout } = await runCommand(['serve', '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}--mqtt-port +\S/m)
  })

  it.each([
    [['wriet', 'boat', '--file', 'x'], /unknown command 'wriet' \(Did you mean write\?\)/],
    [['strat'], /Did you mean start\?/],
    [['boat'], /unknown command 'boat' \(see --help\)/],
  ])('names an unknown command, and the one that was meant: %j', async (args, told) => {
    const { code, stdout, stderr } = await runCommand(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(told)
  })

  it('serve takes no offence at the variables of other commands', async () => {
    const { stderr } = await runCommand(['serve', '--http-port', 'none'], {
      environment: { THINGWIRE_URL: 'http://127.0.0.1:8080', THINGWIRE_TOKEN: 'anything' },
    })
    expect(stderr).toMatch(/^thingwire: --http-port /)
  })
})
