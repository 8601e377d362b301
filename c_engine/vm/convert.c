/*
** Conversions between texts and numbers for the VM, as affinities and casts make them, and the type of a
** column. Included by engine.c.
*/

/* The text or blob at addr as a number. What: SQPYTE_AS_NUMERIC the affinity
** (0 if it is no number), SQPYTE_AS_CAST, SQPYTE_AS_INT, SQPYTE_AS_REAL the
** casts, SQPYTE_AS_OPERAND what arithmetic sees. Returns 1 with a 64-bit integer in *pOut, 2 with a double, 0 for no
** number, -1 without memory. */
int sqpyte_bytes_to_number(long addr, long n, int form, int what, void *pOut){
  SqpyteBytes bytes;
  Mem *p = &bytes.m;
  int kind;
  sqpyteBytesInit(&bytes, addr, n, form);
  switch( what ){
    case SQPYTE_AS_NUMERIC:
      if( n==0 ) return 0;
      applyNumericAffinity(p, 1);
      break;
    case SQPYTE_AS_CAST:    sqlite3VdbeMemNumerify(p);  break;
    case SQPYTE_AS_INT:     sqlite3VdbeMemIntegerify(p);  break;
    case SQPYTE_AS_OPERAND: p->flags = computeNumericType(p);  break;
    default:                sqlite3VdbeMemRealify(p);
  }
  if( p->db && p->db->mallocFailed ) return -1;
  kind = sqpyteNumberOf(p, pOut);
  return kind==0 && (p->flags & MEM_Null) ? -1 : kind;
}

/* The number in the register becomes a text, as the affinity TEXT or a cast
** to TEXT makes it. Returns 0 or SQLITE_NOMEM. */
int sqpyte_number_to_text(void *pMem){
  Mem *p = (Mem*)pMem;
  return sqlite3VdbeMemStringify(p, ENC(p->db), 1);
}

/* The type of a column of the row under a cursor, as OP_IsType has it: 1
** integer, 2 real, 4 text, 8 blob, 16 NULL; 0 if the record is too short to
** have it. Or minus a result code. Upstream takes it from the types that its
** OP_Column has noted, which a VM that reads columns itself can't rely on. */
int sqpyte_column_type(void *pVdbeCursor, int iColumn){
  static const u8 aMask[] = { 16, 1, 1, 1, 1, 1, 1, 2, 1, 1, 16, 16 };
  BtCursor *pCrsr = ((VdbeCursor*)pVdbeCursor)->uc.pCursor;
  u32 nPayload = sqlite3BtreePayloadSize(pCrsr);
  u32 nLocal, nHeader, i, iType = 0;
  const u8 *a = sqlite3BtreePayloadFetch(pCrsr, &nLocal);
  u8 *aCopy = 0;
  int rc;
  if( nLocal==0 ) return 0;
  i = getVarint32(a, nHeader);
  if( nHeader>nPayload ) return -SQLITE_CORRUPT_BKPT;
  if( nHeader<i ) return 0;             /* damaged; for OP_Column a record without columns */
  if( nHeader>nLocal ){
    aCopy = sqlite3Malloc(nHeader + 16);
    if( aCopy==0 ) return -SQLITE_NOMEM;
    rc = sqlite3BtreePayload(pCrsr, 0, nHeader, aCopy);
    if( rc ){
      sqlite3_free(aCopy);
      return -rc;
    }
    a = aCopy;
  }
  while( i<nHeader && iColumn>=0 ){
    i += getVarint32(&a[i], iType);
    iColumn--;
  }
  sqlite3_free(aCopy);
  if( iColumn>=0 ) return 0;
  return iType<12 ? aMask[iType] : (iType & 1) ? 4 : 8;
}
