/*
** Where a program of the harness spends its time: loaded with LD_PRELOAD, it notes about once a
** millisecond which instruction is being executed. harness.h says when to begin and to end.
**
** SQPYTE_SAMPLES names the file that is written: /proc/self/maps, an empty line, then the addresses
** in hexadecimal, one a line. SQPYTE_PHASE is `first` for the first run or `warm` for the measured
** ones. An instruction that waits for the kernel counts as long as it waits.
*/
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define MOST 1000000
#define INTERVAL_NS 997000      /* no divisor of what others do once in a while */

static uintptr_t samples[MOST];
static volatile int count;
static timer_t timer;

static void note(int signal, siginfo_t *information, void *context) {
  ucontext_t *c = context;
  (void)signal;
  (void)information;
  if (count == MOST) return;
#if defined(__x86_64__)
  samples[count++] = c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  samples[count++] = c->uc_mcontext.pc;
#else
#error "which register is the program counter?"
#endif
}

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void begin(void) {
  struct sigaction action;
  struct itimerspec interval = {{0, INTERVAL_NS}, {0, INTERVAL_NS}};
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (sigaction(SIGPROF, &action, 0)) die("sigaction");
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer)) die("timer_create");
  if (timer_settime(timer, 0, &interval, 0)) die("timer_settime");
}

static void end(void) {
  timer_delete(timer);
  FILE *file = fopen(getenv("SQPYTE_SAMPLES"), "w"), *maps = fopen("/proc/self/maps", "r");
  char line[5000];
  if (!file || !maps) die("samples");
  while (fgets(line, sizeof line, maps)) fputs(line, file);
  fputc('\n', file);
  for (int i = 0; i < count; i++) fprintf(file, "%lx\n", (unsigned long)samples[i]);
  if (fclose(file)) die("samples");
  fclose(maps);
}

/* Called by harness.h: a phase, `first` or `warm`, begins (1) or ends (0). */
void sqpyte_phase(const char *phase, int begins) {
  const char *wanted = getenv("SQPYTE_PHASE");
  if (!wanted || strcmp(wanted, phase)) return;
  if (begins) begin(); else end();
}
