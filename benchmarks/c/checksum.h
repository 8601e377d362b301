/*
** A checksum of rows: of every value's type and value, in their order. To take it each value is read as
** a user would read it.
*/

static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9E3779B97F4A7C15u;
  return sum ^ (sum >> 29);
}

/* Read one value into a checksum; returns the new one. */
static uint64_t read_value(sqlite3_stmt *statement, int i, uint64_t sum) {
  int type = column_type(statement, i);
  sum = mix(sum, type);
  if (type == INTEGER) return mix(sum, column_int64(statement, i));
  if (type == FLOAT) {
    double value = column_double(statement, i);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(sum, bits);
  }
  if (type == TEXT || type == BLOB) {
    const unsigned char *data =
        type == TEXT ? column_text(statement, i) : column_blob(statement, i);
    int size = column_bytes(statement, i);
    uint64_t word;
    for (; size >= 8; size -= 8, data += 8) {
      memcpy(&word, data, 8);
      sum = mix(sum, word);
    }
    word = size;
    for (int k = 0; k < size; k++) word = word << 8 | data[k];
    sum = mix(sum, word);
  }
  return sum;
}
