/*
** Conversions between texts and numbers for the VM, as affinities and casts make them. Included by engine.c.
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
