"""Edits for two opcodes of our own, Memoize and MemoizeStore, around correlated subqueries (memoize.c)."""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "memoize-opcodes",
        "#define OP_Abortable     190\n",
        "#define OP_Abortable     190\n"
        "#define OP_Memoize       191 /* synopsis: r[P1@P5] = known for r[P3@P4]    */\n"
        "#define OP_MemoizeStore  192 /* synopsis: keep r[P1@P5]                    */\n",
    ),
    Edit(
        "memoize-properties",
        "/* 184 */ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,}\n",
        "/* 184 */ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,\\\n"
        "/* 192 */ 0x00,}\n",
    ),
    Edit(
        "memoize-names",
        "    /* 190 */ \"Abortable\"        OpHelp(\"\"),\n",
        "    /* 190 */ \"Abortable\"        OpHelp(\"\"),\n"
        "    /* 191 */ \"Memoize\"          OpHelp(\"r[P1@P5] = known for r[P3@P4]\"),\n"
        "    /* 192 */ \"MemoizeStore\"     OpHelp(\"keep r[P1@P5]\"),\n",
    ),
    Edit(
        "memoize-exec",
        "case SQPYTE_OP_WATCHED: {\n",
        "case OP_Memoize: {\n"
        "  int known = sqpyteMemoize(p, pOp);\n"
        "  u64 nUncounted = aOp[pOp->p2-1].p2;  /* P2 of its MemoizeStore */\n"
        "  SQPYTE_UNCOUNT(nUncounted);\n"
        "  if( known<0 ) goto no_mem;\n"
        "  if( known ) goto jump_to_p2;\n"
        "  break;\n"
        "}\n"
        "case OP_MemoizeStore: {\n"
        "  SQPYTE_UNCOUNT(1);\n"
        "  sqpyteMemoizeStore(p, pOp);\n"
        "  break;\n"
        "}\n"
        "case SQPYTE_OP_WATCHED: {\n",
    ),
    Edit(
        "memoize-quiet",
        "  }  /* The end of the for(;;) loop the loops through opcodes */\n"
        "\n"
        "  /* If we reach this point, it means that execution is finished with\n"
        "  ** an error of some kind.\n"
        "  */\n"
        "abort_due_to_error:\n",
        "  sqpyte_next: ;\n"
        "  }  /* The end of the for(;;) loop the loops through opcodes */\n"
        "\n"
        "  /* If we reach this point, it means that execution is finished with\n"
        "  ** an error of some kind.\n"
        "  */\n"
        "abort_due_to_error:\n"
        "  if( sqpyteQuiet(p, pOp, rc) ){\n"
        "    rc = SQLITE_OK;\n"
        "    goto sqpyte_next;\n"
        "  }\n",
    ),
    # What is too long for a key isn't read out of overflow pages: stock doesn't where the subquery doesn't; and a read
    # that fails would leave pCache with the keys of the value before.
    Edit(
        "memoize-long-key",
        "      sqlite3VdbeSerialGet((u8*)sqlite3CtypeMap, t, pDest);\n"
        "    }else{\n"
        "      rc = vdbeColumnFromOverflow(",
        "      sqlite3VdbeSerialGet((u8*)sqlite3CtypeMap, t, pDest);\n"
        "    }else if( (pOp->p5 & SQPYTE_QUIET) && sqlite3VdbeSerialTypeLen(t)>SQPYTE_MEMO_BYTES ){\n"
        "      rc = SQLITE_TOOBIG;     /* see sqpyteQuiet() */\n"
        "      goto abort_due_to_error;\n"
        "    }else{\n"
        "      rc = vdbeColumnFromOverflow(",
    ),
    Edit(
        "memoize-declared",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "static int sqpyteVdbeExec(Vdbe*);\n",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "#define SQPYTE_QUIET 0x20    /* P5 of a Column: it has no error (memoize.c) */\n"
        "#define SQPYTE_MEMO_BYTES 512         /* of a key or of a result, at most */\n"
        "static int sqpyteQuiet(Vdbe*, const Op*, int);\n"
        "static int sqpyteMemoize(Vdbe*, const Op*);\n"
        "static void sqpyteMemoizeStore(Vdbe*, const Op*);\n"
        "static void sqpyteMemoEnd(Vdbe*);\n"
        "static void sqpyteMemoFree(Vdbe*);\n"
        "static int sqpyteVdbeExec(Vdbe*);\n",
    ),
    Edit(
        "memoize-forget",
        "  /* Delete any auxdata allocations made by the VM */\n"
        "  if( p->pAuxData ) sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, -1, 0);\n",
        "  if( p->pSqpyteMemo ) sqpyteMemoEnd(p);\n"
        "  /* Delete any auxdata allocations made by the VM */\n"
        "  if( p->pAuxData ) sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, -1, 0);\n",
    ),
    Edit(
        "memoize-free",
        "  for(pSub=p->pProgram; pSub; pSub=pNext){\n"
        "    pNext = pSub->pNext;\n"
        "    vdbeFreeOpArray(db, pSub->aOp, pSub->nOp);\n",
        "  if( p->pSqpyteMemo && db->pnBytesFreed==0 ) sqpyteMemoFree(p);   /* else it is only measured */\n"
        "  for(pSub=p->pProgram; pSub; pSub=pNext){\n"
        "    pNext = pSub->pNext;\n"
        "    vdbeFreeOpArray(db, pSub->aOp, pSub->nOp);\n",
    ),
    Edit(
        "memoize-code-declared",
        "SQLITE_PRIVATE int sqlite3CodeSubselect(Parse *pParse, Expr *pExpr){\n"
        "  int addrOnce = 0;           /* Address of OP_Once at top of subroutine */\n",
        "static int sqpyteCodeMemoize(Parse*, Select*);\n"
        "static void sqpyteCodeMemoizeStore(Parse*, int, int, int);\n"
        "SQLITE_PRIVATE int sqlite3CodeSubselect(Parse *pParse, Expr *pExpr){\n"
        "  int addrMemoize = 0;         /* Address of OP_Memoize, if there is one */\n"
        "  int addrOnce = 0;           /* Address of OP_Once at top of subroutine */\n",
    ),
    Edit(
        "memoize-code",
        "  if( !ExprHasProperty(pExpr, EP_VarSelect) ){\n"
        "    addrOnce = sqlite3VdbeAddOp0(v, OP_Once); VdbeCoverage(v);\n"
        "  }\n"
        "\n"
        "  /* For a SELECT, generate code to put the values for all columns of\n",
        "  if( !ExprHasProperty(pExpr, EP_VarSelect) ){\n"
        "    addrOnce = sqlite3VdbeAddOp0(v, OP_Once); VdbeCoverage(v);\n"
        "  }else{\n"
        "    addrMemoize = sqpyteCodeMemoize(pParse, pSel);\n"
        "  }\n"
        "\n"
        "  /* For a SELECT, generate code to put the values for all columns of\n",
    ),
    Edit(
        "memoize-code-end",
        "    sqlite3VdbeAddOp1(v, OP_ClrSubtype, rReg);\n"
        "  }\n"
        "\n"
        "  /* Subroutine return */\n",
        "    sqlite3VdbeAddOp1(v, OP_ClrSubtype, rReg);\n"
        "  }\n"
        "  if( addrMemoize ) sqpyteCodeMemoizeStore(pParse, addrMemoize, rReg, nReg);\n"
        "\n"
        "  /* Subroutine return */\n",
    ),
]
