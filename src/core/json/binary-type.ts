const binaryType = new RegExp(
  [
    '^(image|audio|video|font|multipart|avro)/',
    '^application/(x-|vnd\\.|vnd\\.google\\.|vnd\\.apache\\.)?(msgpack|cbor|bson|protobuf|avro|gzip|zip|pdf)\\b',
    '^[^;]*\\+(msgpack|cbor|bson|protobuf|avro|binary|gzip|zip)\\b',
  ].join('|'),
  'i',
)

/** Whether a content type names a binary format. A body with any other type is read as JSON [field]. */
export function isBinaryType(contentType: string): boolean {
  return binaryType.test(contentType.trim())
}
