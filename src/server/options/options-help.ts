import { declarationOf, flagName, type OptionName, optionNames } from './options.ts'

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
  return value === undefined ? text : `${text} Default ${value}${unit ? ` ${unit}` : ''}.`
}
