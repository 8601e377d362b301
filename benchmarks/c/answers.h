/*
** The distinct answers of all runs, as JSON; at most 8 are kept.
*/

static char *answers[8];
static int answer_count;

/* Note a run's answer, in memory of malloc's, which is kept or freed here. */
static void note_answer(char *text) {
  for (int i = 0; i < answer_count; i++) {
    if (!strcmp(answers[i], text)) {
      free(text);
      return;
    }
  }
  if (answer_count < 8) answers[answer_count++] = text; else free(text);
}

/* Print the member `answers`. */
static void print_answers(void) {
  fprintf(out, "\"answers\": [");
  for (int i = 0; i < answer_count; i++) fprintf(out, "%s%s", i ? ", " : "", answers[i]);
  fprintf(out, "], ");
}
