/*
** Memory in which SQLite can't read a byte too far unnoticed: a page cache and a malloc for
** sqlite3_config, for tests.  (An address sanitizer sees neither RPython's nor the JIT's code;
** this sees every instruction, at full speed.)
**
** Each page, each page's header and each allocation is a slot of its own in a large address
** range, between two guard pages without access rights.  GUARD_AFTER puts it against the guard
** that follows, GUARD_BEFORE against the one before it.  What isn't in use has no access rights
** either: freed memory, and pages that nobody has pinned, so a pointer kept too long is noticed.
**
** An access that isn't allowed is noted, with the address of the instruction, and then allowed,
** for upstream reads up to 16 bytes past the end of a damaged page (see pcache1.c); who did it
** is for the test to judge.  guard_rearm() closes the guards again.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "sqlite3.h"

#define GUARD_AFTER 0
#define GUARD_BEFORE 1

#define PAGE 4096L
#define NCLASS 15                   /* slots of 1, 2, 4, ... pages of memory */
#define CLASS_BYTES (1L<<32)        /* address range of each class */
#define MAX_SLOTS 40000
#define QUARANTINE 400              /* slots that a freed one waits for */
#define MAX_NOTES 2000
#define FILL 0xA5                   /* fresh memory, always the same */

#define UNUSED 0
#define IN_USE 1
#define CLOSED 2                    /* a page that nobody has pinned */

typedef struct Slot Slot;
struct Slot { char *area, *p; long n; int state; int next; };

typedef struct Class Class;
struct Class {
  char *base;
  Slot *slots;
  int nSlots;
  int first, last, nFree;           /* queue of the free ones, by number, -1 at the end */
};

/* What was done, where, by the instruction at `code`; `caller` if that is in the C library. */
typedef struct Note Note;
struct Note {
  const char *what;                 /* "after", "before", "freed", "unpinned" */
  long distance;                    /* bytes beyond the end, or before the start */
  long size;
  long code, caller;
  int write;
};

static Class classes[NCLASS];
static int side;
static struct sigaction previous;
static Note notes[MAX_NOTES];
static int nNotes;
static char *opened[MAX_NOTES];     /* pages to be closed again */
static int nOpened;

static long roundUp(long n, long to){ return (n+to-1)/to*to; }

static int classOf(long n){
  int k = 0;
  while( k<NCLASS && (PAGE<<k)<n ) k++;
  return k;
}

/* A slot for n bytes: its memory, or 0. */
static char *slotAlloc(long n){
  int k = classOf(n), i;
  long stride = (PAGE<<k) + PAGE;
  Class *c;
  Slot *s;
  if( k==NCLASS ) return 0;
  c = &classes[k];
  if( c->base==0 ){
    c->base = mmap(0, CLASS_BYTES, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);
    c->slots = calloc(MAX_SLOTS, sizeof(Slot));
    c->first = c->last = -1;
    if( c->base==MAP_FAILED ) abort();
  }
  if( c->nFree>QUARANTINE || (c->nFree && c->nSlots==MAX_SLOTS) ){
    i = c->first;
    c->first = c->slots[i].next;
    if( c->first<0 ) c->last = -1;
    c->nFree--;
  }else{
    if( c->nSlots==MAX_SLOTS || PAGE+(c->nSlots+1)*stride>CLASS_BYTES ) return 0;
    i = c->nSlots++;
  }
  s = &c->slots[i];
  s->area = c->base + PAGE + i*stride;
  if( mprotect(s->area, PAGE<<k, PROT_READ|PROT_WRITE) ) return 0;
  s->p = side==GUARD_AFTER ? s->area + (PAGE<<k) - n : s->area;
  s->n = n;
  s->state = IN_USE;
  /* What upstream reads past the end of a page is always the same, too. */
  memset(s->p, FILL, n+64<(PAGE<<k) && side==GUARD_BEFORE ? n+64 : n);
  return s->p;
}

/* The slot in whose range an address is, or 0. */
static Slot *slotAt(const char *p, Class **pClass, int *pk){
  int k;
  for(k=0; k<NCLASS; k++){
    Class *c = &classes[k];
    long at = p - (c->base + PAGE);
    if( c->base && p>=c->base && p<c->base+CLASS_BYTES ){
      int i = (int)(at<0 ? 0 : at/((PAGE<<k) + PAGE));
      *pClass = c;
      *pk = k;
      return i<c->nSlots ? &c->slots[i] : 0;
    }
  }
  return 0;
}

static void slotState(char *p, int state){
  Class *c;
  int k;
  Slot *s = slotAt(p, &c, &k);
  s->state = state;
  mprotect(s->area, PAGE<<k, state==IN_USE ? PROT_READ|PROT_WRITE : PROT_NONE);
}

static void slotFree(char *p){
  Class *c;
  int k, i;
  Slot *s = slotAt(p, &c, &k);
  slotState(p, UNUSED);
  i = (int)(s - c->slots);
  s->next = -1;
  if( c->last<0 ) c->first = i; else c->slots[c->last].next = i;
  c->last = i;
  c->nFree++;
}

/* ---- what is noticed ---- */

static void noticed(int sig, siginfo_t *info, void *context){
  char *p = info->si_addr;
  ucontext_t *u = context;
  Class *c = 0;
  int k = 0;
  Slot *s = slotAt(p, &c, &k);
  Note *note = &notes[nNotes];
  char *page = (char*)((long)p & ~(PAGE-1));
  if( s==0 || nNotes==MAX_NOTES || nOpened==MAX_NOTES ){
    sigaction(sig, &previous, 0);
    return;
  }
  note->size = s->n;
  note->write = (u->uc_mcontext.gregs[REG_ERR] & 2)!=0;
  if( p<s->area || p>=s->area+(PAGE<<k) ){
    /* The guard between two slots: past the one's end or before the other's start, which is
    ** nearer. (Before the first slot there is no other.) */
    int i = (int)(s - c->slots) + 1;
    long past = p - (s->p + s->n) + 1;
    long before = p<s->area ? s->p - p : i<c->nSlots ? c->slots[i].p - p : PAGE;
    if( p<s->area || before<past ){
      note->what = "before";
      note->distance = before;
      if( p>s->area ) note->size = c->slots[i].n;
    }else{
      note->what = "after";
      note->distance = past;
    }
  }else{
    note->what = s->state==CLOSED ? "unpinned" : "freed";
    note->distance = 0;
  }
  note->code = u->uc_mcontext.gregs[REG_RIP];
  note->caller = *(long*)u->uc_mcontext.gregs[REG_RSP];
  nNotes++;
  opened[nOpened++] = page;
  mprotect(page, PAGE, PROT_READ|PROT_WRITE);
}

int guard_count(void){ return nNotes; }
Note *guard_note(int i){ return &notes[i]; }

/* Forget what was noticed, and notice it again. */
void guard_rearm(void){
  int i;
  for(i=0; i<nOpened; i++){
    Class *c;
    int k;
    Slot *s = slotAt(opened[i], &c, &k);
    int inside = opened[i]>=s->area && opened[i]<s->area+(PAGE<<k);
    if( !inside || s->state!=IN_USE ) mprotect(opened[i], PAGE, PROT_NONE);
  }
  nOpened = nNotes = 0;
}

/* ---- malloc; SQLite calls it with a mutex held ---- */

static void *memMalloc(int n){ return slotAlloc(roundUp(n, 8)); }
static void memFree(void *p){ if( p ) slotFree(p); }
static int memSize(void *p){
  Class *c;
  int k;
  return p ? (int)slotAt(p, &c, &k)->n : 0;
}
static void *memRealloc(void *p, int n){
  char *q = slotAlloc(roundUp(n, 8));
  if( q ){
    memcpy(q, p, memSize(p)<n ? memSize(p) : n);
    slotFree(p);
  }
  return q;
}
static int memRoundup(int n){ return (int)roundUp(n, 8); }
static int memInit(void *unused){ return SQLITE_OK; }
static void memShutdown(void *unused){}

/* ---- the page cache; one connection at a time ---- */

#define NHASH 512
typedef struct Cached Cached;
struct Cached {
  sqlite3_pcache_page page;         /* must be first */
  unsigned key;
  int pinned;
  Cached *next;                     /* in the hash chain */
  Cached *newer, *older;            /* among the unpinned ones */
};
typedef struct Cache Cache;
struct Cache {
  int szPage, szExtra, purgeable, nMax, nPage;
  Cached *newest, *oldest;
  Cached *hash[NHASH];
};

static sqlite3_pcache *cacheCreate(int szPage, int szExtra, int purgeable){
  Cache *c = calloc(1, sizeof(*c));
  c->szPage = szPage;
  c->szExtra = szExtra;
  c->purgeable = purgeable;
  c->nMax = 100;
  return (sqlite3_pcache*)c;
}
static void unlist(Cache *c, Cached *x){
  if( x->newer ) x->newer->older = x->older; else c->newest = x->older;
  if( x->older ) x->older->newer = x->newer; else c->oldest = x->newer;
  x->newer = x->older = 0;
}
static void discard(Cache *c, Cached *x){
  Cached **pp = &c->hash[x->key%NHASH];
  while( *pp!=x ) pp = &(*pp)->next;
  *pp = x->next;
  if( !x->pinned ) unlist(c, x);
  slotFree(x->page.pBuf);
  slotFree(x->page.pExtra);
  c->nPage--;
  free(x);
}
static void shrink(Cache *c, int nMax){
  while( c->purgeable && c->nPage>nMax && c->oldest ) discard(c, c->oldest);
}
static void cacheSize(sqlite3_pcache *p, int n){
  ((Cache*)p)->nMax = n;
  shrink((Cache*)p, n);
}
static int cachePages(sqlite3_pcache *p){ return ((Cache*)p)->nPage; }
static sqlite3_pcache_page *cacheFetch(sqlite3_pcache *p, unsigned key, int create){
  Cache *c = (Cache*)p;
  Cached *x = c->hash[key%NHASH];
  while( x && x->key!=key ) x = x->next;
  if( x ){
    if( !x->pinned ){
      unlist(c, x);
      x->pinned = 1;
      slotState(x->page.pBuf, IN_USE);
      slotState(x->page.pExtra, IN_USE);
    }
    return &x->page;
  }
  if( create==0 ) return 0;
  shrink(c, c->nMax-1);
  if( create==1 && c->purgeable && c->nPage>=c->nMax ) return 0;
  x = calloc(1, sizeof(*x));
  x->key = key;
  x->pinned = 1;
  x->page.pBuf = slotAlloc(c->szPage);
  x->page.pExtra = slotAlloc(roundUp(c->szExtra, 8));
  if( x->page.pBuf==0 || x->page.pExtra==0 ) abort();
  memset(x->page.pExtra, 0, c->szExtra);
  x->next = c->hash[key%NHASH];
  c->hash[key%NHASH] = x;
  c->nPage++;
  return &x->page;
}
static void cacheUnpin(sqlite3_pcache *p, sqlite3_pcache_page *page, int drop){
  Cache *c = (Cache*)p;
  Cached *x = (Cached*)page;
  if( drop ){
    discard(c, x);
    return;
  }
  x->pinned = 0;
  x->older = c->newest;
  if( c->newest ) c->newest->newer = x; else c->oldest = x;
  c->newest = x;
  slotState(x->page.pBuf, CLOSED);
  slotState(x->page.pExtra, CLOSED);
  shrink(c, c->nMax);
}
static void cacheRekey(sqlite3_pcache *p, sqlite3_pcache_page *page, unsigned old, unsigned key){
  Cache *c = (Cache*)p;
  Cached *x = (Cached*)page, **pp = &c->hash[old%NHASH], *y;
  while( *pp!=x ) pp = &(*pp)->next;
  *pp = x->next;
  for(y=c->hash[key%NHASH]; y; y=y->next){
    if( y->key==key ){ discard(c, y); break; }
  }
  x->key = key;
  x->next = c->hash[key%NHASH];
  c->hash[key%NHASH] = x;
}
static void cacheTruncate(sqlite3_pcache *p, unsigned limit){
  Cache *c = (Cache*)p;
  int i;
  for(i=0; i<NHASH; i++){
    Cached *x = c->hash[i];
    while( x ){
      Cached *next = x->next;
      if( x->key>=limit ) discard(c, x);
      x = next;
    }
  }
}
static void cacheDestroy(sqlite3_pcache *p){
  cacheTruncate(p, 0);
  free(p);
}
static void cacheShrink(sqlite3_pcache *p){ shrink((Cache*)p, 0); }
static int cacheInit(void *unused){ return SQLITE_OK; }
static void cacheEnd(void *unused){}

/* Give SQLite this memory, before it is initialised. config is its sqlite3_config; where, one of
** GUARD_*. Returns a result code. */
int guard_install(int (*config)(int, ...), int where){
  static sqlite3_mem_methods mem = {
    memMalloc, memFree, memRealloc, memSize, memRoundup, memInit, memShutdown, 0
  };
  static sqlite3_pcache_methods2 cache = {
    1, 0, cacheInit, cacheEnd, cacheCreate, cacheSize, cachePages, cacheFetch, cacheUnpin,
    cacheRekey, cacheTruncate, cacheDestroy, cacheShrink
  };
  struct sigaction action;
  int rc;
  side = where;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = noticed;
  action.sa_flags = SA_SIGINFO|SA_NODEFER;
  sigaction(SIGSEGV, &action, &previous);
  rc = config(SQLITE_CONFIG_MALLOC, &mem);
  if( rc==SQLITE_OK ) rc = config(SQLITE_CONFIG_PCACHE2, &cache);
  /* Lookaside memory has no guards. */
  if( rc==SQLITE_OK ) rc = config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  return rc;
}

/* Where a shared library that has the function is loaded, for the addresses in notes. */
long guard_base(void *function){
  Dl_info info;
  return dladdr(function, &info) ? (long)info.dli_fbase : 0;
}
