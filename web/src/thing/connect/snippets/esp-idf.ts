import type { Snippet } from '../snippet.ts'

export const espIdf: Snippet = {
  name: 'ESP-IDF',
  needs:
    'ESP-IDF 5 with esp-mqtt, and CONFIG_MQTT_PROTOCOL_5=y in sdkconfig.defaults; call write_readings() once Wi-Fi or Ethernet is up.',
  delivery:
    'QoS 1: esp-mqtt keeps the write in memory and sends it again, and deletes it after 30 seconds without an answer (CONFIG_MQTT_OUTBOX_EXPIRED_TIMEOUT_MS). The program then gives it the same write again, and takes no new reading until the answer comes. The answer comes when the server has stored the write, or has refused it for good. In MQTT 5 the answer has the reason of a refusal, and the program prints it. Each write has its own id: if it is sent twice, the server stores it once. The tests of Thingwire cannot run this program.',
  tls: 'Write mqtts:// in place of mqtt:// and set .broker.verification.crt_bundle_attach = esp_crt_bundle_attach.',
  text: ({ host, mqttPort, token }) => `#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "esp_random.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "mqtt_client.h"

#define TOKEN "${token}"

static TaskHandle_t writer;

// The server says with names and values why it has refused a write, such as reason: invalid_key.
static void print_refusal(int code, mqtt5_user_property_handle_t properties) {
  esp_mqtt5_user_property_item_t items[3];
  uint8_t count = 3;
  printf("refused: 0x%02x\\n", code);
  if (esp_mqtt5_client_get_user_property(properties, items, &count) != ESP_OK) return;
  for (int i = 0; i < count; i++) {
    printf("  %s: %s\\n", items[i].key, items[i].value);
    free((char *)items[i].key);
    free((char *)items[i].value);
  }
}

// esp-mqtt calls it when the server has answered a write.
static void on_answer(void *arg, esp_event_base_t base, int32_t id, void *data) {
  esp_mqtt_event_handle_t event = data;
  // The data of an answer is its reason code. Without one the write is stored.
  uint8_t code = event->data_len > 0 ? event->data[0] : 0;
  if (code >= 0x80) print_refusal(code, event->property->user_property);
  xTaskNotify(writer, event->msg_id, eSetValueWithOverwrite);
}

// False if no answer comes in 40 seconds: by then esp-mqtt has deleted the message.
static bool is_answered(int message) {
  uint32_t answered;
  while (xTaskNotifyWait(0, 0, &answered, pdMS_TO_TICKS(40000)) == pdTRUE) {
    if ((int)answered == message) return true;
  }
  return false;
}

void write_readings(void) {
  const esp_mqtt_client_config_t config = {
      .broker.address.uri = "mqtt://${host}:${mqttPort}",
      .credentials.username = TOKEN,
      .session.protocol_ver = MQTT_PROTOCOL_V_5,
      .buffer.size = 1024,
  };
  // The server leaves off what would make an answer too large for the buffer.
  const esp_mqtt5_connection_property_config_t limits = {.maximum_packet_size = 1024};
  writer = xTaskGetCurrentTaskHandle();
  esp_mqtt_client_handle_t client = esp_mqtt_client_init(&config);
  esp_mqtt5_client_set_connect_property(client, &limits);
  esp_mqtt_client_register_event(client, MQTT_EVENT_PUBLISHED, on_answer, NULL);
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
      int message;
      do {
        message = esp_mqtt_client_enqueue(client, "things/" TOKEN "/write", body, 0, 1, 0, true);
      } while (!is_answered(message));
    }
    vTaskDelay(pdMS_TO_TICKS(10000));
  }
}
`,
}
