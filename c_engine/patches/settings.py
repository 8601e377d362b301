"""Edits that register the SQL function sqpyte_configure (settings.c).

It is one of the functions that all connections share. PRAGMA function_list doesn't show it: programs that compare lists
find stock's.
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "settings-declared",
        "SQLITE_PRIVATE void sqlite3RegisterBuiltinFunctions(void){\n",
        "static void sqpyteConfigureFunction(sqlite3_context*, int, sqlite3_value**);\n"
        "static void sqpyteRegisterFunctions(void);\n"
        "SQLITE_PRIVATE void sqlite3RegisterBuiltinFunctions(void){\n",
    ),
    Edit(
        "settings-function",
        "  sqlite3InsertBuiltinFuncs(aBuiltinFunc, ArraySize(aBuiltinFunc));\n",
        "  sqlite3InsertBuiltinFuncs(aBuiltinFunc, ArraySize(aBuiltinFunc));\n"
        "  sqpyteRegisterFunctions();\n",
    ),
    Edit(
        "settings-hidden",
        "    if( p->xSFunc==0 ) continue;\n"
        "    if( (p->funcFlags & SQLITE_FUNC_INTERNAL)!=0\n",
        "    if( p->xSFunc==0 || p->xSFunc==sqpyteConfigureFunction ) continue;\n"
        "    if( (p->funcFlags & SQLITE_FUNC_INTERNAL)!=0\n",
    ),
]
