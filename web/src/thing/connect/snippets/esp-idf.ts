import type { Snippet } from '../snippet.ts'

export const espIdf: Snippet = {
  name: 'ESP-IDF',
  needs: 'ESP-IDF 5 with esp-mqtt; call write_readings() once Wi-Fi or Ethernet is up.',
  delivery:
    'QoS 1: esp-mqtt keeps the write in memory and sends it again until the server answers. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. Without an answer esp-mqtt drops the write after 30 seconds, without a message (CONFIG_MQTT_OUTBOX_EXPIRED_TIMEOUT_MS). Each write has its own id: if it is sent twice, the server stores it once.',
  tls: 'Write mqtts:// in place of mqtt:// and set .broker.verification.crt_bundle_attach = esp_crt_bundle_attach.',
  text: ({ host, mqttPort, token }) => `#include <math.h>
#include <stdio.h>
#include "esp_random.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "mqtt_client.h"

#define TOKEN "${token}"

void write_readings(void) {
  const esp_mqtt_client_config_t config = {
      .broker.address.uri = "mqtt://${host}:${mqttPort}",
      .credentials.username = TOKEN,
  };
  esp_mqtt_client_handle_t client = esp_mqtt_client_init(&config);
  esp_mqtt_client_start(client);

  // With a number from the start of the board, ids never come again after a restart.
  const unsigned long start = esp_random();
  for (unsigned long count = 1;; count++) {
    float temperature = 21.5f;  // your sensor
    // A sensor that fails reads NaN, which is no JSON: the server would refuse it.
    if (!isnan(temperature)) {
      char body[160];
      snprintf(body, sizeof body,
               "{\\"id\\":\\"%08lx-%lu\\",\\"values\\":[{\\"key\\":\\"temperature\\",\\"value\\":%.2f}]}",
               start, count, temperature);
      esp_mqtt_client_enqueue(client, "things/" TOKEN "/write", body, 0, 1, 0, true);
    }
    vTaskDelay(pdMS_TO_TICKS(10000));
  }
}
`,
}
