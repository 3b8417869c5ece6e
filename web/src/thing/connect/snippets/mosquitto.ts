import type { Snippet } from '../snippet.ts'

export const mosquitto: Snippet = {
  name: 'mosquitto_pub',
  needs: 'Any shell with the package mosquitto-clients, and with timeout (coreutils or BusyBox).',
  delivery:
    'QoS 1 (-q 1): mosquitto_pub ends when the server has answered. It does not send again by itself: the loop does that until the answer comes. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Add --tls-use-os-certs, or --cafile with the certificate of your own authority.',
  text: ({ host, mqttPort, token }) =>
    `send() {
  until timeout 30 mosquitto_pub -h '${host}' -p ${mqttPort} -q 1 -u '${token}' \\
    -t 'things/${token}/write' -m "$1"
  do
    case $? in 4 | 5) return 1 ;; esac # the server does not know the token
    sleep 5
  done
}
send '{"values":[{"key":"temperature","value":21.5,"datetime":"'$(date -u +%Y%m%d%H%M%S)'"}]}'
`,
}
