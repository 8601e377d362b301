/*
** The one estimate of how large a B-tree is, and how much of it a cursor has left, by the pages on the cursor's way down:
** as if all subtrees had as many entries as the one that it is in. Included by engine.c.
*/
#ifndef SQPYTE_CARDINALITY_H
#define SQPYTE_CARDINALITY_H

#define SQPYTE_MOST_ENTRIES_ESTIMATED ((i64)1<<40)

/* About how many entries the B-tree of a cursor on a row has; *pnBefore: how many of them lie before that row. */
static i64 sqpyteEntries(const BtCursor *pCur, i64 *pnBefore){
  i64 n = pCur->pPage->nCell;
  i64 nBefore = pCur->ix;
  int i;
  for(i=pCur->iPage-1; i>=0 && n<SQPYTE_MOST_ENTRIES_ESTIMATED; i--){
    nBefore += pCur->aiIdx[i]*n;
    n *= pCur->apPage[i]->nCell + 1;
  }
  *pnBefore = nBefore;
  return n;
}

#endif
