import type { Snippet } from '../snippet.ts'

export const mosquitto: Snippet = {
  name: 'mosquitto_pub',
  needs: 'Package mosquitto-clients.',
  delivery:
    'QoS 1 (-q 1): the command ends when the server has answered. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Add --tls-use-os-certs, or --cafile with the certificate of your own authority.',
  text: ({ host, mqttPort, token }) =>
    `mosquitto_pub -h '${host}' -p ${mqttPort} -q 1 -u '${token}' -t 'things/${token}/write' \\
  -m '{"values":[{"key":"temperature","value":21.5,"datetime":"'$(date -u +%Y%m%d%H%M%S)'"}]}'
`,
}
