"""Generates the rows of the Star Schema Benchmark, the same ones every time.

After P. O'Neil, B. O'Neil, X. Chen: Star Schema Benchmark, revision 3, 2009, which takes from TPC-H
(specification, 4.2) what it doesn't say itself: sparse order keys, a third of the customers without
orders, order dates that end in August 1998, prices that follow from the part's key.

Choices of ours, where the documents leave one or disagree:

* lineorder has exactly 6,000,000 * SF rows: the last order is cut short.
* Below SF 1, where 1 + log2 SF ends, part has 200,000 * SF rows.
* Amounts are whole cents. What a part costs its supplier is 60 % of its price, rounded down.
* There are TPC-H's 92 colours, not 94.
* The calendar's 2,556 days end with 30 December 1998; a week begins on Sunday, and in the calendar's
  numbers on January 1st.
"""

import datetime
import itertools
import math
import random

VERSION = 1   # to be raised when other rows than before are generated
TABLES = ('part', 'supplier', 'customer', 'date', 'lineorder')
DAYS = 2556
FIRST_DAY = datetime.date(1992, 1, 1)
ORDER_DAYS = 2406   # 1 January 1992 to 2 August 1998

NATIONS = (
    ('ALGERIA', 'AFRICA'), ('ARGENTINA', 'AMERICA'), ('BRAZIL', 'AMERICA'), ('CANADA', 'AMERICA'),
    ('EGYPT', 'MIDDLE EAST'), ('ETHIOPIA', 'AFRICA'), ('FRANCE', 'EUROPE'), ('GERMANY', 'EUROPE'),
    ('INDIA', 'ASIA'), ('INDONESIA', 'ASIA'), ('IRAN', 'MIDDLE EAST'), ('IRAQ', 'MIDDLE EAST'),
    ('JAPAN', 'ASIA'), ('JORDAN', 'MIDDLE EAST'), ('KENYA', 'AFRICA'), ('MOROCCO', 'AFRICA'),
    ('MOZAMBIQUE', 'AFRICA'), ('PERU', 'AMERICA'), ('CHINA', 'ASIA'), ('ROMANIA', 'EUROPE'),
    ('SAUDI ARABIA', 'MIDDLE EAST'), ('VIETNAM', 'ASIA'), ('RUSSIA', 'EUROPE'),
    ('UNITED KINGDOM', 'EUROPE'), ('UNITED STATES', 'AMERICA'))
SEGMENTS = ('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD')
PRIORITIES = ('1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW')
MODES = ('REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB')
TYPES = tuple(' '.join(words) for words in itertools.product(
    ('STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'),
    ('ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'),
    ('TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER')))
CONTAINERS = tuple(' '.join(words) for words in itertools.product(
    ('SM', 'LG', 'MED', 'JUMBO', 'WRAP'),
    ('CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM')))
COLORS = (
    'almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood '
    'burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim '
    'dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot '
    'indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic '
    'midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum '
    'powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke '
    'snow spring steel tan thistle tomato turquoise violet wheat white yellow').split()
LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,. '
HOLIDAYS = frozenset(((1, 1), (2, 14), (4, 1), (5, 1), (7, 4), (10, 31), (11, 11), (12, 24),
                      (12, 25), (12, 31)))
SEASONS = {1: 'Winter', 2: 'Winter', 3: 'Spring', 4: 'Spring', 5: 'Summer', 6: 'Summer',
           7: 'Summer', 8: 'Summer', 9: 'Fall', 10: 'Fall', 11: 'Christmas', 12: 'Christmas'}
# Spelled out: strftime's names are those of the user's language.
MONTHS = ('January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September',
          'October', 'November', 'December')
WEEKDAYS = ('Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday')


def count(table, scale):
    """Return how many rows `table` has at `scale` (float)."""
    if table == 'date':
        return DAYS
    if table == 'part' and scale >= 1:
        return 200000 * int(1 + math.log2(scale))
    at_1 = {'part': 200000, 'supplier': 2000, 'customer': 30000, 'lineorder': 6000000}[table]
    return max(1, round(at_1 * scale))


def numbers(table):
    """Return a function: below(n) is a random int from 0 to n - 1, of the table's own sequence.

    Only random.random() is used, whose values Python promises to keep for a seed.
    """
    source = random.Random(1992 + TABLES.index(table)).random

    def below(n):
        return int(source() * n)
    return below


def price(partkey):
    """Return a part's price in cents (TPC-H 4.2.3: P_RETAILPRICE)."""
    return 90000 + partkey // 10 % 20001 + 100 * (partkey % 1000)


def part(scale):
    """Yield the rows of part."""
    below = numbers('part')
    for key in range(1, count('part', scale) + 1):
        maker = 'MFGR#%d' % (1 + below(5))
        category = '%s%d' % (maker, 1 + below(5))
        first, second = COLORS[below(len(COLORS))], COLORS[below(len(COLORS))]
        yield (key, '%s %s' % (first, second), maker, category, '%s%d' % (category, 1 + below(40)),
               first, TYPES[below(len(TYPES))], 1 + below(50), CONTAINERS[below(len(CONTAINERS))])


def place(below):
    """Return (address, city, nation, region, phone) of a customer or supplier."""
    address = ''.join(LETTERS[below(len(LETTERS))] for _ in range(10 + below(16)))
    number = below(len(NATIONS))
    nation, region = NATIONS[number]
    city = '%-9.9s%d' % (nation, below(10))
    phone = '%d-%d-%d-%d' % (10 + number, 100 + below(900), 100 + below(900), 1000 + below(9000))
    return address, city, nation, region, phone


def supplier(scale):
    """Yield the rows of supplier."""
    below = numbers('supplier')
    for key in range(1, count('supplier', scale) + 1):
        yield (key, 'Supplier#%09d' % key) + place(below)


def customer(scale):
    """Yield the rows of customer."""
    below = numbers('customer')
    for key in range(1, count('customer', scale) + 1):
        yield (key, 'Customer#%09d' % key) + place(below) + (SEGMENTS[below(len(SEGMENTS))],)


def date_key(day):
    """Return a day's key, as 19980327."""
    return day.year * 10000 + day.month * 100 + day.day


def date(scale):
    """Yield the rows of date; they are the same at every scale."""
    for number in range(DAYS):
        day = FIRST_DAY + datetime.timedelta(number)
        tomorrow = day + datetime.timedelta(1)
        month = MONTHS[day.month - 1]
        in_week = day.isoweekday() % 7      # 0 is Sunday
        in_year = (day - datetime.date(day.year, 1, 1)).days
        yield (date_key(day), '%s %d, %d' % (month, day.day, day.year), WEEKDAYS[in_week], month,
               day.year, day.year * 100 + day.month, '%s%d' % (month[:3], day.year), in_week + 1,
               day.day, in_year + 1, day.month, in_year // 7 + 1, SEASONS[day.month],
               int(in_week == 6), int(tomorrow.month != day.month),
               int((day.month, day.day) in HOLIDAYS), int(1 <= in_week <= 5))


def lineorder(scale):
    """Yield the rows of lineorder: orders of one to seven lines."""
    below = numbers('lineorder')
    days = [date_key(FIRST_DAY + datetime.timedelta(number)) for number in range(DAYS)]
    parts, suppliers = count('part', scale), count('supplier', scale)
    # Two of three customers have orders: the keys that 3 doesn't divide.
    customers = count('customer', scale)
    buyers = customers - customers // 3
    left = count('lineorder', scale)
    for number in itertools.count():
        key = number // 8 * 32 + number % 8 + 1     # 8 of every 32 keys are used
        buyer = below(buyers)
        custkey = buyer // 2 * 3 + buyer % 2 + 1
        ordered = below(ORDER_DAYS)
        priority = PRIORITIES[below(len(PRIORITIES))]
        lines = []
        total = 0
        for _ in range(min(left, 1 + below(7))):
            partkey, quantity = 1 + below(parts), 1 + below(50)
            discount, tax = below(11), below(9)
            extended = quantity * price(partkey)
            total += extended * (100 - discount) * (100 + tax) // 10000
            lines.append((partkey, 1 + below(suppliers), quantity, extended, discount, tax,
                          days[ordered + 30 + below(61)], MODES[below(len(MODES))]))
        for line, (partkey, suppkey, quantity, extended, discount, tax, committed, mode) in enumerate(
                lines, 1):
            yield (key, line, custkey, partkey, suppkey, days[ordered], priority, '0', quantity,
                   extended, total, discount, extended * (100 - discount) // 100,
                   6 * price(partkey) // 10, tax, committed, mode)
        left -= len(lines)
        if not left:
            return


ROWS = {'part': part, 'supplier': supplier, 'customer': customer, 'date': date,
        'lineorder': lineorder}
