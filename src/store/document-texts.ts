import type { Document, DocumentPut } from './contract.ts'

/** Documents as JSON, so that no caller shares an object with the store; null removes the document. */
export type DocumentTexts = readonly (readonly [name: string, json: string | null])[]

export function toTexts(documents: DocumentPut = {}): DocumentTexts {
  return Object.entries(documents).map(([name, document]) => [name, document && JSON.stringify(document)])
}

/** @param json JSON as a string or as bytes in UTF-8 */
export function documentOf(json: string | Buffer | null | undefined): Document | undefined {
  return json ? (JSON.parse(json.toString()) as Document) : undefined
}
