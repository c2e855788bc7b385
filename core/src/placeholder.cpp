// Gives the library a source until the first instantiation table is here.
