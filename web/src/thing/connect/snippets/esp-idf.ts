import type { Snippet } from '../snippet.ts'

export const espIdf: Snippet = {
  name: 'ESP-IDF',
  needs: 'ESP-IDF 5 with esp-mqtt; call write_readings() once Wi-Fi or Ethernet is up.',
  delivery:
    'QoS 1: esp-mqtt keeps the write and sends it again until the server has stored it, or refused it for good: then only the thing’s page says so, and why. Each write has an id of its own, so a write that arrives twice is stored once, without a clock on the board.',
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
