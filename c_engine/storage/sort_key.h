/*
** Sort keys: 16 bytes that order the sorter's records nearly always, so that the sorter compares
** two integers where upstream decodes two records. Included by the edited sqlite3.c, in the middle
** of the sorter; see sort_key.c for how a key is made.
*/
typedef struct SqpyteSortKey SqpyteSortKey;
struct SqpyteSortKey { u64 a, b; };     /* b's lowest bit: equal keys don't mean equal records */

/* A list whose records have fewer bytes than this is sorted by comparing them: making keys took longer (of 5 rows, a tenth
** of the statement). Its records have sqpyteNoKey, which tells nothing, as the first of any list do until it is sorted. */
#define SQPYTE_KEYS_FROM 256
static const SqpyteSortKey sqpyteNoKey = { 0, 3 };

static void sqpyteSortKey(const KeyInfo*, const u8 *aRec, int nRec, SqpyteSortKey*);

/* Whether the keys tell the order of their records; if so, *pRes is it. */
#define SQPYTE_KEYS_TELL(p1, p2, res) ( \
  (p1)->a!=(p2)->a ? ((res) = (p1)->a<(p2)->a ? -1 : +1, 1) : \
  ((p1)->b>>1)!=((p2)->b>>1) ? ((res) = (p1)->b<(p2)->b ? -1 : +1, 1) : \
  (((p1)->b | (p2)->b) & 1)==0 ? ((res) = 0, 1) : 0)

/* Makes the key of a record that has none, if its list is to have keys. */
static void sqpyteMakeKey(const KeyInfo*, const SorterList*, SorterRecord*);

/* Sorts, without comparing records, those that begin a list: see sort_key.c. */
static SorterRecord *sqpyteSortFewKeys(const KeyInfo*, SorterList*, SorterRecord **aSlot);
