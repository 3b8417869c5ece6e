/** The polynomial of CRC-32C (Castagnoli), its bits reversed. */
const polynomial = 0x82f63b78
const maskDelta = 0xa282ead8

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? polynomial : 0)
  return remainder >>> 0
})

/** The checksum that LevelDB keeps of these bytes: their CRC-32C, masked since it stands among data that it is of. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  crc = ~crc
  return (((crc >>> 15) | (crc << 17)) + maskDelta) >>> 0
}
