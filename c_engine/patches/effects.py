"""Edits of the checking build alone (effects/): a place beside each `Vdbe` for what is known of its
programs' declared effects, and the moment before `sqlite3VdbeHalt` releases the registers.

The place is the last field of `Vdbe`: the offsets of all others are those of the product.
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "effects-field",
        "  ScanStatus *aScan;      /* Scan definitions for sqlite3_stmt_scanstatus() */\n"
        "#endif\n",
        "  ScanStatus *aScan;      /* Scan definitions for sqlite3_stmt_scanstatus() */\n"
        "#endif\n"
        "  struct SqpyteEffects *pSqpyteEffects;  /* effects/check.c */\n",
    ),
    Edit(
        "effects-halt",
        "  if( db->mallocFailed ){\n"
        "    p->rc = SQLITE_NOMEM_BKPT;\n"
        "  }\n"
        "  closeAllCursors(p);\n",
        "  if( db->mallocFailed ){\n"
        "    p->rc = SQLITE_NOMEM_BKPT;\n"
        "  }\n"
        "  sqpyteEffectsHalting(p);\n"
        "  closeAllCursors(p);\n",
    ),
    Edit(
        "effects-forget",
        "  SubProgram *pSub, *pNext;\n"
        "  assert( db!=0 );\n"
        "  assert( p->db==0 || p->db==db );\n",
        "  SubProgram *pSub, *pNext;\n"
        "  assert( db!=0 );\n"
        "  assert( p->db==0 || p->db==db );\n"
        "  sqpyteEffectsForget(p);\n",
    ),
    Edit(
        "effects-declared",
        "SQLITE_PRIVATE int sqpyteVdbeExecOne(Vdbe*);\n",
        "SQLITE_PRIVATE int sqpyteVdbeExecOne(Vdbe*);\n"
        "static void sqpyteEffectsHalting(Vdbe*);\n"
        "static void sqpyteEffectsForget(Vdbe*);\n",
    ),
]
