/** A process that does nothing, to be observed. Ends with the process that started it. */
process.once('disconnect', () => process.exit())
process.send?.('ready')
