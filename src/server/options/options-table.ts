import { declarationOf, environmentName, flagName, type OptionName, optionNames } from './options.ts'

/** The text of `docs/reference/options.md`. A test compares this text with the file. */
export function optionsTable(): string {
  return `# Options

This page is generated from \`src/server/options/options.ts\`. The server looks for a value in this order: command line,
environment, file, default. The file is \`--config <file>\` or \`THINGWIRE_CONFIG\`, else \`config/default.json\`; its names
are those of the first column. An empty variable counts as not set. On the command line and in the environment, commas
separate the items of a list.

| option | environment | command line | must be | default | meaning | why this default |
|---|---|---|---|---|---|---|
${optionNames.map(row).join('\n')}
`
}

/** One line for each option in `thingwire --help`. */
export function optionsHelp(): string {
  return optionNames
    .filter(name => !declarationOf(name).secret)
    .map(name => `  --${flagName(name).padEnd(20)} ${plain(name)}`)
    .join('\n')
}

function plain(name: OptionName): string {
  const { meaning, unit, default: value } = declarationOf(name)
  const text = meaning.replaceAll('`', '')
  return value === undefined ? text : `${text} Default ${shown(name)}${unit ? ` ${unit}` : ''}.`
}

function row(name: OptionName): string {
  const { rule, meaning, reason, secret } = declarationOf(name)
  const flag = secret ? 'no: other users could read it' : `\`--${flagName(name)}\``
  const value = declarationOf(name).default === undefined ? 'none' : `\`${shown(name)}\``
  return `| \`${name}\` | \`${environmentName(name)}\` | ${flag} | ${rule} | ${value} | ${meaning} | ${reason} |`
}

function shown(name: OptionName): string {
  return String(declarationOf(name).default)
}
