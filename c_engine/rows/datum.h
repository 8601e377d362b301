/*
** A datum: a value of SQL in two words, as it crosses between C and the caller's language.
**
** The first word is the tag: the type (SQLITE_INTEGER .. SQLITE_NULL) in three bits, above it the bytes of a text or
** blob. The second is the integer, the bits of the double, or the address of the bytes, which is never 0. Texts are
** UTF-8. Rows, arguments and call logs are made of datums. Here is the way from a register and back.
*/
#ifndef SQPYTE_DATUM_H
#define SQPYTE_DATUM_H

#define SQPYTE_TAG(eType, n) ((eType) | (sqlite3_int64)(n)<<3)
#define SQPYTE_DATUM_TYPE(aDatum) ((int)((aDatum)[0] & 7))
#define SQPYTE_DATUM_SIZE(aDatum) ((aDatum)[0]>>3)
#define SQPYTE_DATUM_BYTES(aDatum) ((const char*)(intptr_t)(aDatum)[1])

/* The datum of a register; bytes stay where they are. Returns 0 for a value that has to be converted first: a text in
** UTF-16, a blob with zeros that aren't there yet. */
static int sqpyteDatum(const Mem *pMem, i64 *aDatum){
  int f = pMem->flags & (MEM_AffMask | MEM_Zero);
  if( f & MEM_Int ){
    aDatum[0] = SQLITE_INTEGER;
    aDatum[1] = pMem->u.i;
  }else if( f & MEM_Real ){
    aDatum[0] = SQLITE_FLOAT;
    memcpy(&aDatum[1], &pMem->u.r, sizeof(double));
  }else if( f & MEM_Null ){
    aDatum[0] = SQLITE_NULL;
  }else if( (f==MEM_Str && pMem->enc==SQLITE_UTF8) || f==MEM_Blob ){
    aDatum[0] = SQPYTE_TAG(f==MEM_Str ? SQLITE_TEXT : SQLITE_BLOB, pMem->n);
    aDatum[1] = (i64)(intptr_t)(pMem->n ? pMem->z : "");
  }else if( f & MEM_IntReal ){
    double r = (double)pMem->u.i;
    aDatum[0] = SQLITE_FLOAT;
    memcpy(&aDatum[1], &r, sizeof(double));
  }else{
    return 0;
  }
  return 1;
}

/* Sets a register to a datum, whose bytes are only lent: who keeps them copies them. */
static void sqpyteSetDatum(Mem *pMem, const i64 *aDatum){
  int eType = SQPYTE_DATUM_TYPE(aDatum);
  if( eType==SQLITE_TEXT || eType==SQLITE_BLOB ){
    sqpyte_lend(pMem, aDatum[1], SQPYTE_DATUM_SIZE(aDatum), eType==SQLITE_TEXT ? SQLITE_UTF8 : SQLITE_UTF8|SQPYTE_BLOB);
    return;
  }
  if( VdbeMemDynamic(pMem) ) sqlite3VdbeMemSetNull(pMem);
  pMem->flags = MEM_Null;
  if( eType==SQLITE_INTEGER ){
    pMem->u.i = aDatum[1];
    pMem->flags = MEM_Int;
  }else if( eType==SQLITE_FLOAT ){
    memcpy(&pMem->u.r, &aDatum[1], sizeof(double));
    pMem->flags = MEM_Real;
  }
}

#endif
