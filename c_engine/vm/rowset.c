/*
** Row sets for the VM: upstream's, with a register's Mem as their handle. Included by engine.c.
*/

static int sqpyteRowSet(Mem *p){
  return (p->flags & MEM_Blob)==0 && sqlite3VdbeMemSetRowSet(p);
}
int sqpyte_rowset_add(void *pMem, long long v){
  if( sqpyteRowSet((Mem*)pMem) ) return SQLITE_NOMEM;
  sqlite3RowSetInsert((RowSet*)((Mem*)pMem)->z, v);
  return SQLITE_OK;
}
/* The smallest value of the set, taken out of it: 1 with it in *pOut, 0 if
** there is none. */
int sqpyte_rowset_next(void *pMem, void *pOut){
  Mem *p = (Mem*)pMem;
  if( (p->flags & MEM_Blob)==0 || !sqlite3RowSetNext((RowSet*)p->z, (i64*)pOut) ){
    sqlite3VdbeMemSetNull(p);
    return 0;
  }
  return 1;
}
/* Whether the set has v, which is added otherwise: 1 or 0, or -1 without
** memory. See OP_RowSetTest for iSet. */
int sqpyte_rowset_test(void *pMem, int iSet, long long v){
  if( sqpyteRowSet((Mem*)pMem) ) return -1;
  if( iSet && sqlite3RowSetTest((RowSet*)((Mem*)pMem)->z, iSet, v) ) return 1;
  if( iSet>=0 ) sqlite3RowSetInsert((RowSet*)((Mem*)pMem)->z, v);
  return 0;
}
