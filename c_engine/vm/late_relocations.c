/*
** Addresses in the VM's data, written when the VM starts.
**
** The translated VM brings 1 MB of constants that hold addresses of each other. The dynamic linker would write them all
** when the library is loaded: 70 000 words in 280 pages, which takes four times as long as the rest of loading. A program
** whose statements never enter the VM doesn't need them. So tools/late_relocations.py takes these words out of the linker's
** table when the library has been linked, and lists them here.
**
** The invariant: nothing reads the VM's data before sqpyteRelocateVm() has returned. Only rpython_startup_code() and
** what runs after it reads any.
*/

/* Words of the list; tools/late_relocations.py refuses a library that needs more. */
#define SQPYTE_LATE_WORDS 6144

/* The list, as in a section of type SHT_RELR: an even word is the place of an address, as an offset in the library; an
** odd one is a bitmap of the 63 places behind the last. It ends at a word of 0. A place holds an offset before. In
** a library that the tool hasn't seen the list is empty, and the dynamic linker has done it all. Volatile: the compiler is
** not to believe the zeros. */
static volatile u64 aSqpyteLate[SQPYTE_LATE_WORDS+1] __attribute__((section("sqpyte_late"))) = {0};

/* Where the library has been loaded. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static void sqpyteRelocateVm(void){
  uptr base = (uptr)__ehdr_start;
  uptr *aPlace = 0;
  int i, j;
  for(i=0; aSqpyteLate[i]; i++){
    u64 word = aSqpyteLate[i];
    if( word & 1 ){
      for(j=0; (word >>= 1)!=0; j++){
        if( word & 1 ) aPlace[j] += base;
      }
      aPlace += 63;
    }else{
      aPlace = (uptr*)(base + word);
      *aPlace++ += base;
    }
  }
}
