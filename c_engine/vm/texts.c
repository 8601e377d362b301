/*
** SQL functions of texts and numbers for the VM, from and to plain bytes: each gives what upstream's
** function gives. Included by engine.c; contracts are in engine.h.
*/

/* One of the literals of typeof(). */
long sqpyte_type_name(int iType){
  static const char *const azType[] = { "integer", "real", "text", "blob", "null" };
  return (long)azType[iType-1];
}

/* upper() or lower() of a text, in the register pMemOut. */
int sqpyte_fold(void *pMemOut, long addr, long n, int toUpper){
  Mem *p = (Mem*)pMemOut;
  const u8 *z = (const u8*)addr;
  u8 *zOut;
  long i;
  if( n>=p->db->aLimit[SQLITE_LIMIT_LENGTH] ) return SQLITE_TOOBIG;
  if( sqlite3VdbeMemClearAndResize(p, (int)n+2) ) return SQLITE_NOMEM;
  zOut = (u8*)p->z;
  if( toUpper ){
    for(i=0; i<n; i++) zOut[i] = sqlite3Toupper(z[i]);
  }else{
    for(i=0; i<n; i++) zOut[i] = sqlite3Tolower(z[i]);
  }
  zOut[n] = zOut[n+1] = 0;
  p->n = (int)n;
  p->enc = SQLITE_UTF8;
  p->flags = MEM_Str | MEM_Term;
  return SQLITE_OK;
}

/* Where the ASCII that a text begins with ends, or a NUL comes, but for up to seven characters; at most n of them. Eight at
** a time: length() of long texts takes an eighth of upstream's time, and took 1.4 times it. */
#define SQPYTE_EACH_BYTE(b) (~(u64)0/255*(b))
static const u8 *sqpyteBehindAscii(const u8 *z, const u8 *zEnd, i64 n){
  u64 w;
  if( zEnd-z>n ) zEnd = z + n;
  while( zEnd-z>=8 ){
    memcpy(&w, z, 8);
    if( (w | (w-SQPYTE_EACH_BYTE(1))) & SQPYTE_EACH_BYTE(0x80) ) break;
    z += 8;
  }
  return z;
}

/* Behind a text's first n characters, or at its first NUL; *pnChar is how many there were. */
static const u8 *sqpyteSkipChars(const u8 *z, const u8 *zEnd, i64 n, i64 *pnChar){
  i64 nLeft = n;
  while( nLeft>0 && z<zEnd && *z ){
    if( *z<0x80 ){
      const u8 *zAscii = sqpyteBehindAscii(z, zEnd, nLeft);
      if( zAscii>z ){
        nLeft -= zAscii - z;
        z = zAscii;
        continue;
      }
      z++;
    }else{
      z++;
      while( z<zEnd && (*z & 0xc0)==0x80 ) z++;
    }
    nLeft--;
  }
  *pnChar = n - nLeft;
  return z;
}

/* length() of a text: its characters before the first NUL. */
long sqpyte_text_length(long addr, long n){
  i64 nChar;
  sqpyteSkipChars((const u8*)addr, (const u8*)addr + n, n, &nChar);
  return (long)nChar;
}

/* How many characters substr() counts in a text to begin from its end: where the text is malformed, others than it
** skips then. */
static i64 sqpyteCountFromEnd(const u8 *z, const u8 *zEnd){
  const u8 *zAscii = sqpyteBehindAscii(z, zEnd, zEnd-z);
  i64 n = zAscii - z;
  for(z=zAscii; z<zEnd && *z; n++){
    if( *z++>=0xc0 ){
      while( z<zEnd && (*z & 0xc0)==0x80 ) z++;
    }
  }
  return n;
}

/* substr(): where the part begins (from addr) and, in *pn, its size, both in
** bytes. p2 is LARGEST_INT64 for a call without a length. */
long sqpyte_substr(long addr, long n, int isText, long long p1, long long p2, void *pn){
  const u8 *z = (const u8*)addr;
  const u8 *zEnd = z + n;
  const u8 *zPart;
  if( p1<0 ){
    p1 += isText ? sqpyteCountFromEnd(z, zEnd) : n;
    if( p1<0 ){
      p2 = p2<0 ? 0 : p2 + p1;
      p1 = 0;
    }
  }else if( p1>0 ){
    p1--;
  }else if( p2>0 ){
    p2--;
  }
  if( p2<0 ){
    p2 = p2<-p1 ? p1 : -p2;
    p1 -= p2;
  }
  if( isText ){
    i64 nUnused;
    zPart = sqpyteSkipChars(z, zEnd, p1, &nUnused);
    *(i64*)pn = sqpyteSkipChars(zPart, zEnd, p2, &nUnused) - zPart;
    return zPart - z;
  }
  if( p1>=n ) p1 = p2 = 0;
  *(i64*)pn = p2>n-p1 ? n-p1 : p2;
  return (long)p1;
}

/* instr() of two texts (in characters) or of two blobs (in bytes). */
long sqpyte_instr(long a, long na, long b, long nb, int isText){
  const u8 *z = (const u8*)a;
  const u8 *zEnd = z + na;
  long N = 1;
  if( nb==0 ) return 1;
  while( zEnd-z>=nb && (*z!=*(const u8*)b || memcmp(z, (const void*)b, nb)) ){
    N++;
    do{ z++; }while( isText && z<zEnd && (*z & 0xc0)==0x80 );
  }
  return zEnd-z>=nb ? N : 0;
}

/* round() of a double, as upstream's roundFunc has it, in memory of its own: at most 16 digits before the point and 30
** behind it. */
double sqpyte_round(double r, long long nDigit){
  char z[80];
  int n = nDigit<0 ? 0 : nDigit>30 ? 30 : (int)nDigit;
  if( r<-4503599627370496.0 || r>+4503599627370496.0 ) return r;
  if( n==0 ) return (double)((i64)(r + (r<0 ? -0.5 : +0.5)));
  sqlite3_snprintf(sizeof(z), z, "%!.*f", n, r);
  sqlite3AtoF(z, &r);
  return r;
}

/* How many bytes of a text are its ISO date YYYY-MM-DD: 10 if it is nothing
** but a date of a day that every month has, else 0. */
int sqpyte_iso_date(long addr, long n){
  const u8 *z = (const u8*)addr;
  int month, day;
  if( n!=10 || z[4]!='-' || z[7]!='-' ) return 0;
  if( !sqlite3Isdigit(z[0]) || !sqlite3Isdigit(z[1]) || !sqlite3Isdigit(z[2])
   || !sqlite3Isdigit(z[3]) || !sqlite3Isdigit(z[5]) || !sqlite3Isdigit(z[6])
   || !sqlite3Isdigit(z[8]) || !sqlite3Isdigit(z[9]) ) return 0;
  month = (z[5]-'0')*10 + z[6]-'0';
  day = (z[8]-'0')*10 + z[9]-'0';
  if( month<1 || month>12 || day<1 ) return 0;
  if( day>28 ){
    static const u8 aDays[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if( day>aDays[month-1] ) return 0;
  }
  return 10;
}
