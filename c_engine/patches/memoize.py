"""Edits for two opcodes of our own, Recall and Remember, around correlated subqueries (memoize.c)."""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "recall-opcodes",
        "#define OP_Abortable     190\n",
        "#define OP_Abortable     190\n"
        "#define OP_Recall        191 /* synopsis: r[P1@P5] = known for r[P3@P4]    */\n"
        "#define OP_Remember      192 /* synopsis: keep r[P1@P5]                    */\n",
    ),
    Edit(
        "recall-properties",
        "/* 184 */ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,}\n",
        "/* 184 */ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,\\\n"
        "/* 192 */ 0x00,}\n",
    ),
    Edit(
        "recall-names",
        "    /* 190 */ \"Abortable\"        OpHelp(\"\"),\n",
        "    /* 190 */ \"Abortable\"        OpHelp(\"\"),\n"
        "    /* 191 */ \"Recall\"           OpHelp(\"r[P1@P5] = known for r[P3@P4]\"),\n"
        "    /* 192 */ \"Remember\"         OpHelp(\"keep r[P1@P5]\"),\n",
    ),
    Edit(
        "recall-exec",
        "case SQPYTE_OP_WATCHED: {\n",
        "case OP_Recall: {\n"
        "  int known = sqpyteRecall(p, pOp);\n"
        "  if( known<0 ) goto no_mem;\n"
        "  if( known ) goto jump_to_p2;\n"
        "  break;\n"
        "}\n"
        "case OP_Remember: {\n"
        "  sqpyteRemember(p, pOp);\n"
        "  break;\n"
        "}\n"
        "case SQPYTE_OP_WATCHED: {\n",
    ),
    Edit(
        "recall-declared",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "int sqpyteVdbeExec(Vdbe*);\n",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "static int sqpyteRecall(Vdbe*, const Op*);\n"
        "static void sqpyteRemember(Vdbe*, const Op*);\n"
        "static void sqpyteForgetRecalled(Vdbe*);\n"
        "int sqpyteVdbeExec(Vdbe*);\n",
    ),
    Edit(
        "recall-forget",
        "  /* Delete any auxdata allocations made by the VM */\n"
        "  if( p->pAuxData ) sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, -1, 0);\n",
        "  if( p->pSqpyteRecalled ) sqpyteForgetRecalled(p);\n"
        "  /* Delete any auxdata allocations made by the VM */\n"
        "  if( p->pAuxData ) sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, -1, 0);\n",
    ),
    Edit(
        "recall-code-declared",
        "SQLITE_PRIVATE int sqlite3CodeSubselect(Parse *pParse, Expr *pExpr){\n"
        "  int addrOnce = 0;           /* Address of OP_Once at top of subroutine */\n",
        "static int sqpyteCodeRecall(Parse*, Select*);\n"
        "static void sqpyteCodeRemember(Parse*, int, int, int);\n"
        "SQLITE_PRIVATE int sqlite3CodeSubselect(Parse *pParse, Expr *pExpr){\n"
        "  int addrRecall = 0;         /* Address of OP_Recall, if there is one */\n"
        "  int addrOnce = 0;           /* Address of OP_Once at top of subroutine */\n",
    ),
    Edit(
        "recall-code",
        "  if( !ExprHasProperty(pExpr, EP_VarSelect) ){\n"
        "    addrOnce = sqlite3VdbeAddOp0(v, OP_Once); VdbeCoverage(v);\n"
        "  }\n"
        "\n"
        "  /* For a SELECT, generate code to put the values for all columns of\n",
        "  if( !ExprHasProperty(pExpr, EP_VarSelect) ){\n"
        "    addrOnce = sqlite3VdbeAddOp0(v, OP_Once); VdbeCoverage(v);\n"
        "  }else{\n"
        "    addrRecall = sqpyteCodeRecall(pParse, pSel);\n"
        "  }\n"
        "\n"
        "  /* For a SELECT, generate code to put the values for all columns of\n",
    ),
    Edit(
        "recall-code-end",
        "    sqlite3VdbeAddOp1(v, OP_ClrSubtype, rReg);\n"
        "  }\n"
        "\n"
        "  /* Subroutine return */\n",
        "    sqlite3VdbeAddOp1(v, OP_ClrSubtype, rReg);\n"
        "  }\n"
        "  if( addrRecall ) sqpyteCodeRemember(pParse, addrRecall, rReg, nReg);\n"
        "\n"
        "  /* Subroutine return */\n",
    ),
]
