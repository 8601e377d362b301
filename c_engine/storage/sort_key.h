/*
** Sort keys: 16 bytes that order the sorter's records nearly always, so that the sorter compares
** two integers where upstream decodes two records. Included by the edited sqlite3.c, in the middle
** of the sorter; see sort_key.c for how a key is made.
*/
typedef struct SqpyteSortKey SqpyteSortKey;
struct SqpyteSortKey { u64 a, b; };     /* b's lowest bit: equal keys don't mean equal records */

/* What the records of a list have that is sorted. */
#define SQPYTE_NO_KEYS 0                /* no keys: they are compared */
#define SQPYTE_KEYS 1                   /* a key is made of each when its turn comes */
#define SQPYTE_RANKED_KEYS 2            /* each has one, made with ranks (collation_ranks.c) */
static u8 sqpyteHasKeys(const KeyInfo*);
static int sqpyteKeysOf(const VdbeSorter*, SorterList*);

static void sqpyteSortKey(const KeyInfo*, const u8 *aRec, int nRec, SqpyteSortKey*);

/* Whether the keys tell the order of their records; if so, *pRes is it. */
#define SQPYTE_KEYS_TELL(p1, p2, res) ( \
  (p1)->a!=(p2)->a ? ((res) = (p1)->a<(p2)->a ? -1 : +1, 1) : \
  ((p1)->b>>1)!=((p2)->b>>1) ? ((res) = (p1)->b<(p2)->b ? -1 : +1, 1) : \
  (((p1)->b | (p2)->b) & 1)==0 ? ((res) = 0, 1) : 0)

/* Sorts, without comparing records, those that begin a list: see sort_key.c. */
static SorterRecord *sqpyteSortFewKeys(SortSubtask*, SorterList*, SorterRecord **aSlot);
