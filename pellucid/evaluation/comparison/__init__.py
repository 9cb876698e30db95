"""Methods x metrics over many texts. The files in the order in which a comparison runs through them:

comparison         what is compared, checked before any work, and cut into parts
compared_part      one part: every method explains its examples, every metric judges the explanations
judged_part        the values of a part, and how a file keeps them
ceiling            how far the people who marked the texts agree among themselves
comparison_table   from the values of all parts to the table, with `caveats`
value_file         every value, exact, as rows of a Parquet file
comparison_folder  the same with every part kept on disk, so that an interrupted comparison can go on
"""
