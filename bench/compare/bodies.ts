/** What is written: `values` of the contract, without datetimes, so that no write is a resend of another. */

export const oneValue = '{"values":[{"key":"temperature","value":21.5}]}'

export const valuesPerBatch = 100
const keysPerBatch = 10

const values = Array.from({ length: valuesPerBatch }, (_, place) => ({
  key: `channel-${place % keysPerBatch}`,
  value: 20 + place / 10,
}))

/** Ten values of each of ten resources. */
export const batch = JSON.stringify({ values })

/** The same, to be validated and answered and nothing else. */
export const dryBatch = JSON.stringify({ store: false, broadcast: false, values })
