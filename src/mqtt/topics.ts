/** The topics of contract §7; the only place that builds or matches them. `ref` is a thing token or thing id. */

/** Where a thing publishes its writes. */
export function writeTopic(ref: string): string {
  return `things/${ref}/write`
}

const writeTopicForm = /^(?:things\/([^/+#]+)\/write|v2\/things\/([^/+#]+))$/

/** The ref in `things/<ref>/write` or `v2/things/<ref>` [wild]; undefined for any other topic. */
export function refOfWriteTopic(topic: string): string | undefined {
  const match = writeTopicForm.exec(topic)
  return match?.[1] ?? match?.[2]
}

/** Where the records of one resource are sent live; `key` may be the wildcard `+`. */
export function valuesTopic(ref: string, key: string): string {
  return `things/${ref}/values/${key}`
}

/** Where refused writes are told. */
export function errorsTopic(ref: string): string {
  return `things/${ref}/errors`
}
